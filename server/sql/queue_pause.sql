-- Pauses or resumes a queue. $1 name  $2 bits: 1 leases, 2 enqueues; 0 resumes  $3 reason.
-- One row if the queue exists and is not being deleted: its new version.
UPDATE skiplane.queue q
SET pause_mode = $2::int2, pause_reason = $3::text, version = q.version + 1, update_time = now()
WHERE q.name = $1::text AND q.deletion IS NULL
RETURNING q.version
