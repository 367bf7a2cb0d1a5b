-- Deletes statistics of more than 400 days ago. $1 lane. No rows.
DELETE FROM skiplane.hour_statistics h
WHERE h.lane = $1::int8 AND h.ctid = ANY (ARRAY(
  SELECT o.ctid FROM skiplane.hour_statistics o
  WHERE o.lane = $1::int8 AND o.hour < now() - interval '400 days' FOR UPDATE SKIP LOCKED))
