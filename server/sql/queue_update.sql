-- Changes a queue that still has the version that was read. $1 name  $2 version  $3 settings as
-- JSON
-- One row if it was changed: its new version.
UPDATE skiplane.queue q
SET settings = $3::text::jsonb, version = q.version + 1, update_time = now()
WHERE q.name = $1::text AND q.version = $2::int8
RETURNING q.version
