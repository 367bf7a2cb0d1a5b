-- What people and producers may see without any right on a table.
--
-- The views run with their owner's rights. They show columns and hide no rows, so they need no
-- security barrier. Left out on purpose: payloads, headers and texts of errors, which may be
-- private; ids of sessions, which prove leases; ids of workers, under which leases are repeated.
-- Workers are told apart by a handle, which proves nothing.

CREATE VIEW skiplane.tasks AS
SELECT q.name AS queue, concat(t.lane, '-', t.id) AS task_id, t.key,
       CASE WHEN t.state = 2 THEN 'leased'
            WHEN t.schedule_time > statement_timestamp() THEN 'scheduled'
            ELSE 'ready' END AS state,
       q.settings -> 'stages' -> t.stage::int ->> 'name' AS stage,
       t.priority, t.attempt AS attempt_count, t.max_attempts, t.schedule_time, t.create_time,
       CASE WHEN t.state = 2 THEN t.lease_time END AS lease_time,
       CASE WHEN t.state = 2 THEN s.name END AS worker_name,
       CASE WHEN t.state = 2 THEN skiplane.worker_handle(t.session) END AS worker_handle,
       t.version, t.period * interval '1 microsecond' AS period, t.cron, t.time_zone,
       t.planned_time,
       CASE WHEN t.period IS NULL AND t.cron IS NULL THEN NULL
            WHEN t.catch_up = 2 THEN 'run_all' ELSE 'skip_missed' END AS catch_up,
       coalesce(t.paused, false) AS paused, coalesce(t.rerun_pending, false) AS rerun_pending,
       coalesce(t.cancel_requested, false) AS cancel_requested, t.error_type AS last_error_type
FROM skiplane.task t
JOIN skiplane.queue_lane l ON l.lane = t.lane
JOIN skiplane.queue q ON q.id = l.queue_id
LEFT JOIN skiplane.worker_session s ON s.id = t.session;

CREATE VIEW skiplane.failed_tasks AS
SELECT q.name AS queue, concat(f.lane, '-', f.id) AS task_id, f.key,
       q.settings -> 'stages' -> f.stage::int ->> 'name' AS stage,
       f.priority, f.attempt AS attempt_count, f.max_attempts, f.schedule_time, f.create_time,
       f.end_time, f.expire_time, f.version, f.error_type, f.error_fingerprint
FROM skiplane.task_failed f
JOIN skiplane.queue_lane l ON l.lane = f.lane
JOIN skiplane.queue q ON q.id = l.queue_id;

CREATE VIEW skiplane.attempts AS
SELECT q.name AS queue, concat(h.lane, '-', h.task_id) AS task_id, h.key,
       q.settings -> 'stages' -> h.stage::int ->> 'name' AS stage, h.attempt,
       CASE h.outcome WHEN 1 THEN 'succeeded' WHEN 2 THEN 'retried' WHEN 3 THEN 'failed'
                      WHEN 4 THEN 'lost' WHEN 5 THEN 'cancelled' WHEN 7 THEN 'hanged'
       END AS outcome,
       h.ends_task, h.schedule_time, h.lease_time, h.end_time, s.name AS worker_name,
       skiplane.worker_handle(h.session) AS worker_handle, h.version, h.error_type
FROM skiplane.history h
JOIN skiplane.queue_lane l ON l.lane = h.lane
JOIN skiplane.queue q ON q.id = l.queue_id
LEFT JOIN skiplane.worker_session s ON s.id = h.session;

-- The counts are exact in any snapshot; the border of scheduled and ready to 10 seconds.
CREATE VIEW skiplane.queues AS
SELECT q.name AS queue,
       ('{none,lease,enqueue,both}'::text[])[q.pause_mode + 1] AS pause_mode, q.pause_reason,
       (SELECT count(*) FROM skiplane.queue_lane l WHERE l.queue_id = q.id) AS lane_count,
       coalesce(c.scheduled, 0) AS scheduled_count, coalesce(c.ready, 0) AS ready_count,
       coalesce(c.leased, 0) AS leased_count, coalesce(c.succeeded, 0) AS succeeded_count,
       coalesce(c.failed, 0) AS failed_count, coalesce(c.cancelled, 0) AS cancelled_count,
       q.create_time
FROM skiplane.queue q
LEFT JOIN (
  SELECT l.queue_id,
         sum(a.waiting) FILTER (WHERE a.due > date_part('epoch', now()) / 10) AS scheduled,
         sum(a.waiting) FILTER (WHERE a.due <= date_part('epoch', now()) / 10) AS ready,
         sum(a.leased) AS leased, sum(a.succeeded) AS succeeded, sum(a.failed) AS failed,
         sum(a.cancelled) AS cancelled
  FROM (
    SELECT c.lane, c.due, c.waiting, c.leased, c.succeeded, c.failed, c.cancelled
    FROM skiplane.counter c
    UNION ALL
    SELECT d.lane, d.due, d.waiting, d.leased, d.succeeded, d.failed, d.cancelled
    FROM skiplane.counter_delta d
  ) a
  JOIN skiplane.queue_lane l ON l.lane = a.lane
  GROUP BY l.queue_id
) c ON c.queue_id = q.id;

CREATE VIEW skiplane.workers AS
SELECT s.name, skiplane.worker_handle(s.id) AS worker_handle,
       ('{alive,lost,ended}'::text[])[s.state] AS state,
       s.lease_duration, s.create_time, s.expire_time
FROM skiplane.worker_session s;
