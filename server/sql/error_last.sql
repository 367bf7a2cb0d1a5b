-- The error of a task's last failed attempt, from its history. $1 lane  $2 id  $3 when the task was
-- made, or started again under its key: what failed before that is not its error.
-- At most one row: error type, fingerprint, text.
SELECT h.error_type, h.error_fingerprint, h.error_text
FROM skiplane.history h
WHERE h.lane = $1::int8 AND h.task_id = $2::int8 AND h.create_time >= $3::timestamptz
  AND h.error_type IS NOT NULL
ORDER BY h.end_time DESC LIMIT 1
