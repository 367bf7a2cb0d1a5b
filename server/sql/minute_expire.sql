-- Deletes minutes of more than two days ago. $1 lane. No rows.
DELETE FROM skiplane.minute_statistics m
WHERE m.lane = $1::int8 AND m.ctid = ANY (ARRAY(
  SELECT o.ctid FROM skiplane.minute_statistics o
  WHERE o.lane = $1::int8 AND o.minute < now() - interval '2 days' FOR UPDATE SKIP LOCKED))
