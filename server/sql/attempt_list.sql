-- The finished attempts of a task, the latest first. $1 lane  $2 id  $3 only what ended before this
-- (infinity: all)  $4 at most  $5 bytes that they may have together, but always one.
-- One row each: attempt, outcome, stage; schedule time, leased (null) and ended in microseconds;
-- worker name, error type, fingerprint, text, whether it was the last, payload, result; bytes up to
-- here, whether there are older ones.
SELECT g.attempt, g.outcome, g.stage, (date_part('epoch', g.run_at) * 1e6)::int8,
       (date_part('epoch', g.leased_at) * 1e6)::int8,
       (date_part('epoch', g.finished_at) * 1e6)::int8,
       g.worker_name, g.error_type, g.error_print, g.error_text, g.is_last, g.payload, g.result,
       g.bytes, g.number < g.found
FROM (
  SELECT f.*, row_number() OVER (ORDER BY f.finished_at DESC) AS number, count(*) OVER () AS found,
         sum(512 + octet_length(concat(f.error_type, f.error_print, f.worker_name))
             + coalesce(octet_length(f.error_text), 0) + coalesce(octet_length(f.payload), 0)
             + coalesce(octet_length(f.result), 0)) OVER (ORDER BY f.finished_at DESC) AS bytes
  FROM (
    SELECT h.attempt, h.outcome, h.stage, h.run_at, h.leased_at, h.finished_at, h.error_type,
           h.error_print, h.error_text, h.is_last, h.payload, h.result,
           (SELECT s.name FROM skiplane.worker_session s WHERE s.id = h.session) AS worker_name
    FROM skiplane.history h
    WHERE h.lane = $1::int8 AND h.task_id = $2::int8 AND h.finished_at < $3::timestamptz
    ORDER BY h.finished_at DESC LIMIT $4::int4 + 1
  ) f
) g
WHERE g.number <= $4::int4 AND (g.bytes <= $5::int8 OR g.number = 1)
ORDER BY g.finished_at DESC
