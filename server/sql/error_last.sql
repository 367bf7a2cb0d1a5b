-- The error of a task's last failed attempt, from its history. $1 lane  $2 id.
-- At most one row: error type, fingerprint, text.
SELECT h.error_type, h.error_fingerprint, h.error_text
FROM skiplane.history h
WHERE h.lane = $1::int8 AND h.task_id = $2::int8 AND h.error_type IS NOT NULL
ORDER BY h.end_time DESC LIMIT 1
