-- Tasks, wherever they are. $1 lane  $2 ids  $3 with payload, content type and headers
-- $4 bytes that they may have together  $5 whether the first one may have more.
-- One row per task that is known, ordered by id, while they fit: id, state (1 waiting, 2 leased,
-- 4 succeeded, 5 failed, 6 cancelled; 1 with a schedule time after now is scheduled), key,
-- priority, attempt, max attempts; created, schedule time (null: never), leased, ended and now in
-- microseconds; error type, fingerprint, text; worker name and handle; progress, and what an
-- earlier attempt reported, as JSON; stage, version, period in microseconds, cron, time zone,
-- planned in microseconds, missed times are run, paused, newer content waits, its worker is to
-- stop; payload, content type, headers; bytes up to here, whether others did not fit; with payload:
-- the output of the ack that ended it, or of the last one since it was made or started again. What
-- does not fit is not read: the length of a large value is known without it.
SELECT g.id, g.state, g.key, g.priority, g.attempt, g.max_attempts,
       (date_part('epoch', g.create_time) * 1e6)::int8,
       CASE WHEN g.schedule_time < 'infinity'
            THEN (date_part('epoch', g.schedule_time) * 1e6)::int8 END,
       (date_part('epoch', g.lease_time) * 1e6)::int8, (date_part('epoch', g.end_time) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8,
       g.error_type, g.error_fingerprint, g.error_text, g.worker_name,
       skiplane.worker_handle(g.session), g.progress, g.last_progress, g.stage, g.version,
       g.period, g.cron, g.time_zone,
       (date_part('epoch', g.planned_time) * 1e6)::int8, g.catch_up = 2, g.paused, g.rerun_pending,
       g.cancel_requested, g.payload, g.content_type, g.headers, g.bytes, g.number < g.found,
       g.result
FROM (
  SELECT f.*, row_number() OVER (ORDER BY f.id) AS number, count(*) OVER () AS found,
         sum(512 + octet_length(concat(f.key, f.error_type, f.error_fingerprint, f.cron,
                                       f.content_type, f.worker_name, f.progress,
                                       f.last_progress, f.headers))
             + coalesce(octet_length(f.error_text), 0) + coalesce(octet_length(f.payload), 0)
             + coalesce(octet_length(f.result), 0))
           OVER (ORDER BY f.id) AS bytes
  FROM (
    SELECT l.*,
           (SELECT s.name FROM skiplane.worker_session s WHERE s.id = l.session) AS worker_name,
           (SELECT s.progress -> l.id::text FROM skiplane.worker_session s
            WHERE s.id = l.session AND l.state = 2
              AND (s.progress -> l.id::text ->> 'lease')::int8 = l.lease_number) AS progress,
           CASE WHEN l.source = 1 AND $3::bool THEN (
             SELECT h.result FROM skiplane.history h
             WHERE h.lane = $1::int8 AND h.task_id = l.id AND h.outcome = 1
               AND h.create_time >= l.create_time
             ORDER BY h.end_time DESC LIMIT 1) ELSE l.end_result END AS result
    FROM unnest($2::int8[]) AS w(id)
    CROSS JOIN LATERAL (
      SELECT a.* FROM (
        SELECT 1 AS source, t.id, t.state, t.key, t.priority, t.attempt, t.max_attempts,
               t.create_time, t.schedule_time,
               CASE WHEN t.state = 2 THEN t.lease_time END AS lease_time,
               NULL::timestamptz AS end_time, t.error_type, t.error_fingerprint, t.error_text,
               t.session, t.stage, t.version, t.period, t.cron, t.time_zone, t.planned_time,
               t.catch_up, t.paused, t.rerun_pending, t.cancel_requested, t.lease_number,
               t.last_progress,
               CASE WHEN $3::bool THEN t.payload END AS payload,
               CASE WHEN $3::bool THEN t.content_type END AS content_type,
               CASE WHEN $3::bool THEN t.headers END AS headers, NULL::bytea AS end_result
        FROM skiplane.task t WHERE t.lane = $1::int8 AND t.id = w.id
        UNION ALL
        SELECT 1, p.id, p.state, p.key, p.priority, p.attempt, p.max_attempts, p.create_time,
               p.schedule_time, p.lease_time, NULL, p.error_type, p.error_fingerprint, p.error_text,
               p.session, p.stage, p.version, p.period, p.cron, p.time_zone, p.planned_time,
               p.catch_up, p.paused, p.rerun_pending, p.cancel_requested, p.lease_number,
               p.last_progress,
               CASE WHEN $3::bool THEN p.payload END, CASE WHEN $3::bool THEN p.content_type END,
               CASE WHEN $3::bool THEN p.headers END, NULL
        FROM skiplane.packed($1::int8, w.id) p
        UNION ALL
        (SELECT 2, d.id, 5, d.key, d.priority, d.attempt, d.max_attempts, d.create_time,
                d.schedule_time, NULL, d.end_time, d.error_type, d.error_fingerprint, d.error_text,
                d.session, d.stage, d.version, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                NULL, d.last_progress,
                CASE WHEN $3::bool THEN d.payload END, CASE WHEN $3::bool THEN d.content_type END,
                CASE WHEN $3::bool THEN d.headers END, NULL
         FROM skiplane.task_failed d WHERE d.lane = $1::int8 AND d.id = w.id
         ORDER BY d.end_time DESC LIMIT 1)
        UNION ALL
        (SELECT 3, h.task_id, CASE h.outcome WHEN 1 THEN 4 ELSE 6 END, h.key,
                h.priority, h.attempt, h.max_attempts, h.create_time, h.schedule_time, NULL,
                h.end_time, h.error_type, h.error_fingerprint, h.error_text, h.session, h.stage,
                h.version, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                CASE WHEN $3::bool THEN h.payload END, NULL, NULL,
                CASE WHEN $3::bool AND h.outcome = 1 THEN h.result END
         FROM (
           SELECT o.* FROM skiplane.history o
           WHERE o.lane = $1::int8 AND o.task_id = w.id AND o.ends_task
           ORDER BY o.end_time DESC LIMIT 1
         ) h
         -- A failed task without its row was deleted, moved or expired.
         WHERE h.outcome IN (1, 5))
        UNION ALL
        SELECT 3, h.task_id, 4, h.key, h.priority, h.attempt, h.max_attempts, h.create_time,
               h.schedule_time, NULL, h.end_time, h.error_type, h.error_fingerprint, h.error_text,
               h.session, h.stage, h.version, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL, h.payload, NULL, NULL, h.result
        FROM skiplane.packed_attempts($1::int8, w.id) h
      ) a
      ORDER BY a.source LIMIT 1
    ) l
  ) f
) g
WHERE g.bytes <= $4::int8 OR g.number = 1 AND $5::bool
ORDER BY g.id
