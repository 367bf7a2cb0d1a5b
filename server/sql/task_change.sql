-- Changes living tasks of a lane, as operators want it. $1 lane  $2 ids  $3 what: 1 priority,
-- 2 run now, 3 run at a time, 4 postpone, 5 cancel, 6 remove, 7 pause, 8 resume, 9 retry now,
-- 10 trigger, which alone runs a paused task
-- $4 the priority  $5 the time  $6 by how long, in microseconds  $7 which history is kept: 1 all,
-- 2 failures, 3 none  $8 for how many days
-- One row per task that was changed, ordered by id: id, what became of it (1 changed, 2 ended,
-- 3 its worker is asked to stop), priority, stage, whether ready, schedule time (null: it runs,
-- ended, or does not run by itself) and time now in microseconds. A task whose state does not allow
-- the change has no row.
-- lanes: any because a lane that is given once lets a plan read all of it for single tasks
-- locks: any because an operator's change must not miss the row that somebody leases just now
WITH target AS MATERIALIZED (
  SELECT x.*
  FROM (SELECT DISTINCT u.id FROM unnest($2::int8[]) AS u(id) ORDER BY u.id) w
  CROSS JOIN LATERAL (
    SELECT o.lane, o.id, o.state, o.due, o.schedule_time, o.stage, o.attempt, o.max_attempts,
           o.priority, o.lease_number, o.session, o.create_time, o.key, o.version,
           o.error_fingerprint,
           o.planned_time, o.period, o.cron, o.time_zone, o.paused, o.cancel_requested
    FROM skiplane.task o WHERE o.lane = $1::int8 AND o.id = w.id
    FOR UPDATE
  ) x
), decided AS MATERIALIZED (
  SELECT t.*,
         CASE $3::int2
           WHEN 1 THEN 1
           WHEN 5 THEN CASE WHEN t.state = 1 THEN 2 ELSE 3 END
           WHEN 6 THEN CASE WHEN t.state = 1 THEN 2 END
           WHEN 7 THEN CASE WHEN t.planned_time IS NOT NULL THEN 1 END
           WHEN 8 THEN CASE WHEN t.paused THEN 1 END
           WHEN 9 THEN CASE WHEN t.state = 1 AND t.attempt > 0 AND t.paused IS NULL THEN 1 END
           WHEN 10 THEN CASE WHEN t.state = 1 AND t.planned_time IS NOT NULL THEN 1 END
           ELSE CASE WHEN t.state = 1 AND t.paused IS NULL THEN 1 END
         END AS effect,
         CASE
           WHEN t.state = 2 THEN t.schedule_time
           WHEN $3::int2 IN (2, 9, 10) THEN now()
           WHEN $3::int2 = 3 THEN greatest($5::timestamptz, now())
           -- Ten years ahead at most, as by an enqueue.
           WHEN $3::int2 = 4
             THEN least(greatest(t.schedule_time, now()) + $6::int8 * interval '1 microsecond',
                        greatest(t.schedule_time, now() + interval '3653 days'))
           WHEN $3::int2 = 7 THEN 'infinity'
           WHEN $3::int2 = 8 THEN skiplane.next_planned_time(t.planned_time, t.period, t.cron,
                                                         t.time_zone, NULL, now())
           ELSE t.schedule_time
         END AS new_schedule_time
  FROM target t
), updated AS (
  -- By id: the location of a row that was waited for is newer than what this statement sees.
  UPDATE skiplane.task t
  SET priority = CASE WHEN $3::int2 = 1 THEN $4::int2 ELSE t.priority END,
      schedule_time = j.new_schedule_time,
      due = CASE WHEN t.state = 2 OR $3::int2 = 1 THEN t.due
                 ELSE skiplane.due_slot(j.new_schedule_time, now()) END,
      paused = CASE $3::int2 WHEN 7 THEN true WHEN 8 THEN NULL ELSE t.paused END,
      planned_time = CASE WHEN $3::int2 = 8 AND t.state = 1 THEN j.new_schedule_time
                          ELSE t.planned_time END,
      cancel_requested = CASE WHEN j.effect = 3 THEN true ELSE t.cancel_requested END
  FROM decided j
  WHERE t.lane = ANY (ARRAY[j.lane]) AND t.id = j.id AND j.effect IN (1, 3)
  RETURNING t.id, j.effect, t.priority, t.stage, t.state, t.due, j.due AS old_due, t.schedule_time,
            t.lease_number, t.session, j.cancel_requested AS was_requested
), deleted AS (
  DELETE FROM skiplane.task t USING decided j
  WHERE t.lane = ANY (ARRAY[j.lane]) AND t.id = j.id AND j.effect = 2
  RETURNING j.*
), history_rows AS (
  INSERT INTO skiplane.history
    (lane, task_id, expire_time, end_time, schedule_time, create_time, attempt, max_attempts, stage,
     priority, outcome, ends_task, version, key)
  SELECT $1::int8, g.id, now() + $8::int4 * interval '1 day', now(), least(g.schedule_time, now()),
         g.create_time, g.attempt, g.max_attempts, g.stage, g.priority, 5, true, g.version, g.key
  FROM deleted g WHERE $3::int2 = 5 AND $7::int2 < 3
), freed AS MATERIALIZED (
  SELECT g.lane, g.id, g.key FROM deleted g WHERE g.key IS NOT NULL ORDER BY g.key
), released AS (
  -- By key, for the same reason.
  UPDATE skiplane.task_key k SET end_time = now(), end_state = 6
  FROM freed f
  WHERE $3::int2 = 5 AND k.lane = ANY (ARRAY[f.lane]) AND k.key = f.key AND k.task_id = f.id
  RETURNING 1
), forgotten AS (
  DELETE FROM skiplane.task_key k USING freed f
  WHERE $3::int2 = 6 AND k.lane = ANY (ARRAY[f.lane]) AND k.key = f.key AND k.task_id = f.id
  RETURNING 1
), worker AS MATERIALIZED (
  SELECT x.id, w.lease_number
  FROM (
    SELECT n.session AS id, n.lease_number
    FROM (
      SELECT u.session, max(u.lease_number) AS lease_number
      FROM updated u WHERE u.effect = 3 AND u.was_requested IS NOT TRUE GROUP BY u.session
    ) n
    CROSS JOIN LATERAL (
      SELECT o.worker_id FROM skiplane.worker_session o WHERE o.id = n.session OFFSET 0
    ) k
    -- After the keys.
    WHERE (SELECT count(*) FROM released) + (SELECT count(*) FROM forgotten) >= 0
    ORDER BY k.worker_id COLLATE "C", n.session
  ) w
  CROSS JOIN LATERAL (
    SELECT o.id FROM skiplane.worker_session o WHERE o.id = w.id AND o.state < 2 FOR UPDATE
  ) x
), notified AS (
  -- As session_recheck has it.
  UPDATE skiplane.worker_session s SET recheck_until = greatest(s.recheck_until, w.lease_number)
  FROM worker w WHERE s.id = ANY (ARRAY[w.id])
  RETURNING pg_notify('skiplane', 'workers -')
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, cancelled)
  SELECT $1::int8, c.stage, c.due, sum(c.waiting), sum(c.cancelled)
  FROM (
    SELECT u.stage, u.due, 1 AS waiting, 0 AS cancelled FROM updated u
    WHERE u.state = 1 AND u.due <> u.old_due
    UNION ALL
    SELECT u.stage, u.old_due, -1, 0 FROM updated u WHERE u.state = 1 AND u.due <> u.old_due
    UNION ALL
    SELECT g.stage, g.due, -1, 0 FROM deleted g
    UNION ALL
    SELECT g.stage, 0, 0, ($3::int2 = 5)::int FROM deleted g
  ) c
  GROUP BY c.stage, c.due
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, fingerprint, retrying)
  SELECT $1::int8, g.stage, g.error_fingerprint, -count(*)
  FROM deleted g WHERE g.error_fingerprint IS NOT NULL GROUP BY g.stage, g.error_fingerprint
)
SELECT u.id, u.effect, u.priority, u.stage, u.due = 0,
       CASE WHEN u.state = 1 AND u.schedule_time < 'infinity'
            THEN (date_part('epoch', u.schedule_time) * 1e6)::int8 END,
       (date_part('epoch', now()) * 1e6)::int8
FROM updated u
UNION ALL
SELECT g.id, 2, g.priority, g.stage, false, NULL, (date_part('epoch', now()) * 1e6)::int8
FROM deleted g
ORDER BY 1
