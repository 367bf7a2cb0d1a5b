-- Removes the rows that key_lock made in this transaction, whose keys stay locked to its end.
-- $1 lanes of keys  $2 the keys. No rows.
-- lanes: any because what follows a task may be of another queue
DELETE FROM skiplane.task_key k
USING unnest($1::int8[], $2::text[]) AS u(lane, key)
WHERE k.lane = u.lane AND k.key = u.key AND k.task_id = 0
