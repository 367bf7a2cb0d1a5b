-- A queue stays that was being removed. $1 the bulk operation. One row if there is such a
-- queue: its id.
UPDATE skiplane.queue q SET deletion = NULL, version = q.version + 1, update_time = now()
WHERE q.deletion = $1::uuid
RETURNING q.id
