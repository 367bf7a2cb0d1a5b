-- The finished attempts of a task, the latest first. $1 lane  $2 id  $3 at most.
-- One row each: attempt, outcome, stage; run time, leased (null) and ended in microseconds; worker
-- name, error type, fingerprint, text, whether it was the last, payload, result.
SELECT h.attempt, h.outcome, h.stage, (date_part('epoch', h.run_at) * 1e6)::int8,
       (date_part('epoch', h.leased_at) * 1e6)::int8,
       (date_part('epoch', h.finished_at) * 1e6)::int8,
       (SELECT s.name FROM skiplane.worker_session s WHERE s.id = h.session),
       h.error_type, h.error_print, h.error_text, h.is_last, h.payload, h.result
FROM skiplane.history h
WHERE h.lane = $1::int8 AND h.task_id = $2::int8
ORDER BY h.finished_at DESC LIMIT $3::int4
