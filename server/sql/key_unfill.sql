-- Removes the rows that key_lock made in this transaction, whose keys stay locked to its end.
-- $1 lanes of keys  $2 the keys. No rows.
-- lanes: any because what follows a task may be of another queue
DELETE FROM skiplane.task_key k
USING unnest($1::int8[], $2::text[]) AS u(lane, key)
CROSS JOIN LATERAL (
  SELECT o.ctid AS row_location FROM skiplane.task_key o
  WHERE o.lane = u.lane AND o.key = u.key AND o.task_id = 0 OFFSET 0
) x
WHERE k.ctid = x.row_location
