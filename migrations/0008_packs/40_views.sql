-- Packed tasks and attempts stand beside the others. Nothing tells them apart.
CREATE OR REPLACE VIEW skiplane.tasks AS
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
FROM (
  SELECT lane, id, key, state, schedule_time, stage, priority, attempt, max_attempts, create_time,
         lease_time, session, version, period, cron, time_zone, planned_time, catch_up, paused,
         rerun_pending, cancel_requested, error_type
  FROM skiplane.task
  UNION ALL
  SELECT lane, id, key, state, schedule_time, stage, priority, attempt, max_attempts, create_time,
         lease_time, session, version, period, cron, time_zone, planned_time, catch_up, paused,
         rerun_pending, cancel_requested, error_type
  FROM skiplane.packed_task
) t
JOIN skiplane.queue_lane l ON l.lane = t.lane
JOIN skiplane.queue q ON q.id = l.queue_id
LEFT JOIN skiplane.worker_session s ON s.id = t.session;

CREATE OR REPLACE VIEW skiplane.attempts AS
SELECT q.name AS queue, concat(h.lane, '-', h.task_id) AS task_id, h.key,
       q.settings -> 'stages' -> h.stage::int ->> 'name' AS stage, h.attempt,
       CASE h.outcome WHEN 1 THEN 'succeeded' WHEN 2 THEN 'retried' WHEN 3 THEN 'failed'
                      WHEN 4 THEN 'lost' WHEN 5 THEN 'cancelled' WHEN 7 THEN 'hanged'
       END AS outcome,
       h.ends_task, h.schedule_time, h.lease_time, h.end_time, s.name AS worker_name,
       skiplane.worker_handle(h.session) AS worker_handle, h.version, h.error_type
FROM (
  SELECT lane, task_id, key, stage, attempt, outcome, ends_task, schedule_time, lease_time,
         end_time, session, version, error_type
  FROM skiplane.history
  UNION ALL
  SELECT lane, task_id, key, stage, attempt, outcome, ends_task, schedule_time, lease_time,
         end_time, session, version, error_type
  FROM skiplane.packed_attempt
) h
JOIN skiplane.queue_lane l ON l.lane = h.lane
JOIN skiplane.queue q ON q.id = l.queue_id
LEFT JOIN skiplane.worker_session s ON s.id = h.session;
