-- The finished attempts of a task, the latest first. $1 lane  $2 id  $3 only what ended before this
-- (infinity: all)  $4 at most  $5 bytes that they may have together, but always one.
-- One row each: attempt, outcome, stage; schedule time, leased (null) and ended in microseconds;
-- worker name, error type, fingerprint, text, whether it was the last, payload, result; bytes up to
-- here, whether there are older ones.
SELECT g.attempt, g.outcome, g.stage, (date_part('epoch', g.schedule_time) * 1e6)::int8,
       (date_part('epoch', g.lease_time) * 1e6)::int8,
       (date_part('epoch', g.end_time) * 1e6)::int8,
       g.worker_name, g.error_type, g.error_fingerprint, g.error_text, g.ends_task, g.payload,
       g.result, g.bytes, g.number < g.found
FROM (
  SELECT f.*, row_number() OVER (ORDER BY f.end_time DESC) AS number, count(*) OVER () AS found,
         sum(512 + octet_length(concat(f.error_type, f.error_fingerprint, f.worker_name))
             + coalesce(octet_length(f.error_text), 0) + coalesce(octet_length(f.payload), 0)
             + coalesce(octet_length(f.result), 0)) OVER (ORDER BY f.end_time DESC) AS bytes
  FROM (
    SELECT a.*,
           (SELECT s.name FROM skiplane.worker_session s WHERE s.id = a.session) AS worker_name
    FROM (
      (SELECT h.session, h.attempt, h.outcome, h.stage, h.schedule_time, h.lease_time, h.end_time,
              h.error_type, h.error_fingerprint, h.error_text, h.ends_task, h.payload, h.result
       FROM skiplane.history h
       WHERE h.lane = $1::int8 AND h.task_id = $2::int8 AND h.end_time < $3::timestamptz
       ORDER BY h.end_time DESC LIMIT $4::int4 + 1)
      UNION ALL
      SELECT h.session, h.attempt, h.outcome, h.stage, h.schedule_time, h.lease_time, h.end_time,
             h.error_type, h.error_fingerprint, h.error_text, h.ends_task, h.payload, h.result
      FROM skiplane.packed_attempts($1::int8, $2::int8) h WHERE h.end_time < $3::timestamptz
    ) a
    ORDER BY a.end_time DESC LIMIT $4::int4 + 1
  ) f
) g
WHERE g.number <= $4::int4 AND (g.bytes <= $5::int8 OR g.number = 1)
ORDER BY g.end_time DESC
