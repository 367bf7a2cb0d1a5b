-- Begins to remove a queue. $1 its id  $2 its version, as it was read  $3 the bulk operation. One
-- row if it still is as it was: its id.
UPDATE skiplane.queue q SET deletion = $3::uuid, version = q.version + 1, update_time = now()
WHERE q.id = $1::int8 AND q.version = $2::int8 AND q.deletion IS NULL
RETURNING q.id
