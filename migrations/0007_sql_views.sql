-- What people and producers may see and do without any right on a table.
--
-- The views run with their owner's rights. They show columns and hide no rows, so they need no
-- security barrier. Left out on purpose: payloads, headers and texts of errors, which may be
-- private; ids of sessions, which prove leases; ids of workers, under which leases are repeated.

CREATE VIEW skiplane.tasks AS
SELECT q.name AS queue, concat(t.lane, '-', t.id) AS task_id, t.key,
       CASE WHEN t.state = 2 THEN 'leased' WHEN t.run_at > statement_timestamp() THEN 'scheduled'
            ELSE 'ready' END AS state,
       q.settings -> 'stages' -> t.stage::int ->> 'name' AS stage,
       t.priority, t.attempt, t.max_attempts, t.run_at, t.created_at,
       CASE WHEN t.state = 2 THEN t.leased_at END AS leased_at,
       CASE WHEN t.state = 2 THEN s.name END AS worker,
       t.version, t.period * interval '1 microsecond' AS period, t.cron, t.time_zone, t.planned_at,
       coalesce(t.paused, false) AS paused, t.error_type AS last_error_type
FROM skiplane.task t
JOIN skiplane.queue_lane l ON l.lane = t.lane
JOIN skiplane.queue q ON q.id = l.queue_id
LEFT JOIN skiplane.worker_session s ON s.id = t.session;

CREATE VIEW skiplane.failed_tasks AS
SELECT q.name AS queue, concat(f.lane, '-', f.id) AS task_id, f.key,
       q.settings -> 'stages' -> f.stage::int ->> 'name' AS stage,
       f.priority, f.attempt, f.max_attempts, f.run_at, f.created_at, f.failed_at, f.expires_at,
       f.version, f.error_type, f.error_print AS fingerprint
FROM skiplane.task_failed f
JOIN skiplane.queue_lane l ON l.lane = f.lane
JOIN skiplane.queue q ON q.id = l.queue_id;

CREATE VIEW skiplane.attempts AS
SELECT q.name AS queue, concat(h.lane, '-', h.task_id) AS task_id, h.key,
       q.settings -> 'stages' -> h.stage::int ->> 'name' AS stage, h.attempt,
       CASE h.outcome WHEN 1 THEN 'succeeded' WHEN 2 THEN 'retried' WHEN 3 THEN 'failed'
                      WHEN 4 THEN 'lost' WHEN 5 THEN 'cancelled' WHEN 7 THEN 'hanged'
       END AS outcome,
       h.is_last, h.run_at, h.leased_at, h.finished_at, s.name AS worker, h.version, h.error_type
FROM skiplane.history h
JOIN skiplane.queue_lane l ON l.lane = h.lane
JOIN skiplane.queue q ON q.id = l.queue_id
LEFT JOIN skiplane.worker_session s ON s.id = h.session;

-- The counts are exact in any snapshot; the border of scheduled and ready to 10 seconds.
CREATE VIEW skiplane.queues AS
SELECT q.name AS queue,
       ('{none,lease,enqueue,both}'::text[])[q.pause + 1] AS pause, q.pause_reason,
       (SELECT count(*) FROM skiplane.queue_lane l WHERE l.queue_id = q.id) AS lanes,
       coalesce(c.scheduled, 0) AS scheduled, coalesce(c.ready, 0) AS ready,
       coalesce(c.leased, 0) AS leased, coalesce(c.succeeded, 0) AS succeeded,
       coalesce(c.failed, 0) AS failed, coalesce(c.cancelled, 0) AS cancelled, q.created_at
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
SELECT s.name AS worker, CASE s.state WHEN 1 THEN 'alive' ELSE 'lost' END AS state,
       s.duration AS lease_duration, s.created_at, s.expires_at
FROM skiplane.worker_session s;

-- PUBLIC can do nothing here. Those who may write tasks are brokers of other roles than the owner:
-- they keep what they had through PUBLIC. A later migration that makes a function revokes it, too.
DO $$
DECLARE
  broker text;
BEGIN
  FOR broker IN
    SELECT DISTINCT a.grantee::regrole::text
    FROM pg_class c, aclexplode(c.relacl) AS a
    WHERE c.oid = 'skiplane.task'::regclass AND a.privilege_type = 'INSERT'
      AND a.grantee NOT IN (0, c.relowner)
  LOOP
    EXECUTE 'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA skiplane TO ' || broker;
  END LOOP;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA skiplane FROM PUBLIC;
REVOKE USAGE ON TYPE skiplane.new_task FROM PUBLIC;

-- Roles are the whole cluster's: this one may exist already, or not be ours to make.
DO $$
BEGIN
  BEGIN
    CREATE ROLE skiplane_producer NOLOGIN;
  EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
    WHEN insufficient_privilege THEN
      RAISE NOTICE 'role skiplane_producer cannot be made by %: see deploy/sql-producer.sql',
        current_user;
      RETURN;
  END;
  GRANT USAGE ON SCHEMA skiplane TO skiplane_producer;
  GRANT USAGE ON TYPE skiplane.new_task TO skiplane_producer;
  GRANT EXECUTE ON FUNCTION skiplane.make_task, skiplane.enqueue, skiplane.enqueue_json,
    skiplane.enqueue_many, skiplane.sql_api_version TO skiplane_producer;
  GRANT SELECT ON skiplane.tasks, skiplane.failed_tasks, skiplane.attempts, skiplane.queues,
    skiplane.workers TO skiplane_producer;
END $$;
