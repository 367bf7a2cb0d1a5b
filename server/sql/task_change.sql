-- Changes living tasks of a lane, as operators want it. $1 lane  $2 ids  $3 what: 1 priority,
-- 2 run now, 3 run at a time, 4 postpone, 5 cancel, 6 remove, 7 pause, 8 resume, 9 retry now,
-- 10 trigger, which alone runs a paused task
-- $4 the priority  $5 the time  $6 by how long, in microseconds  $7 which history is kept: 1 all,
-- 2 failures, 3 none  $8 for how many days
-- One row per task that was changed, ordered by id: id, what became of it (1 changed, 2 ended,
-- 3 its worker is asked to stop), priority, stage, whether ready, schedule time (null: it runs,
-- ended, or does not run by itself) and time now in microseconds. A task whose state does not allow
-- the change has no row.
-- locks: any because an operator's change must not miss the row that somebody leases just now
WITH target AS MATERIALIZED (
  SELECT x.*
  FROM (SELECT DISTINCT u.id FROM unnest($2::int8[]) AS u(id) ORDER BY u.id) w
  CROSS JOIN LATERAL (
    SELECT o.id, o.state, o.due, o.run_at, o.stage, o.attempt, o.max_attempts,
           o.priority, o.lease_no, o.session, o.created_at, o.key, o.version, o.error_print,
           o.planned_at, o.period, o.cron, o.time_zone, o.paused, o.cancel
    FROM skiplane.task o WHERE o.lane = $1::int8 AND o.id = w.id
    FOR UPDATE
  ) x
), decided AS MATERIALIZED (
  SELECT t.*,
         CASE $3::int2
           WHEN 1 THEN 1
           WHEN 5 THEN CASE WHEN t.state = 1 THEN 2 ELSE 3 END
           WHEN 6 THEN CASE WHEN t.state = 1 THEN 2 END
           WHEN 7 THEN CASE WHEN t.planned_at IS NOT NULL THEN 1 END
           WHEN 8 THEN CASE WHEN t.paused THEN 1 END
           WHEN 9 THEN CASE WHEN t.state = 1 AND t.attempt > 0 AND t.paused IS NULL THEN 1 END
           WHEN 10 THEN CASE WHEN t.state = 1 AND t.planned_at IS NOT NULL THEN 1 END
           ELSE CASE WHEN t.state = 1 AND t.paused IS NULL THEN 1 END
         END AS effect,
         CASE
           WHEN t.state = 2 THEN t.run_at
           WHEN $3::int2 IN (2, 9, 10) THEN now()
           WHEN $3::int2 = 3 THEN greatest($5::timestamptz, now())
           WHEN $3::int2 = 4 THEN greatest(t.run_at, now()) + $6::int8 * interval '1 microsecond'
           WHEN $3::int2 = 7 THEN 'infinity'
           WHEN $3::int2 = 8 THEN skiplane.next_tick(t.planned_at, t.period, t.cron, t.time_zone,
                                                     false, now())
           ELSE t.run_at
         END AS new_run_at
  FROM target t
), updated AS (
  -- By id: the location of a row that was waited for is newer than what this statement sees.
  UPDATE skiplane.task t
  SET priority = CASE WHEN $3::int2 = 1 THEN $4::int2 ELSE t.priority END,
      run_at = j.new_run_at,
      due = CASE WHEN t.state = 2 OR $3::int2 = 1 THEN t.due
                 ELSE skiplane.due_of(j.new_run_at, now()) END,
      paused = CASE $3::int2 WHEN 7 THEN true WHEN 8 THEN NULL ELSE t.paused END,
      planned_at = CASE WHEN $3::int2 = 8 AND t.state = 1 THEN j.new_run_at ELSE t.planned_at END,
      cancel = CASE WHEN j.effect = 3 THEN true ELSE t.cancel END
  FROM decided j
  WHERE t.lane = $1::int8 AND t.id = j.id AND j.effect IN (1, 3)
  RETURNING t.id, j.effect, t.priority, t.stage, t.state, t.due, j.due AS old_due, t.run_at,
            t.lease_no, t.session
), deleted AS (
  DELETE FROM skiplane.task t USING decided j
  WHERE t.lane = $1::int8 AND t.id = j.id AND j.effect = 2
  RETURNING j.*
), history_rows AS (
  INSERT INTO skiplane.history
    (lane, task_id, expires_at, finished_at, run_at, created_at, attempt, max_attempts, stage,
     priority, outcome, is_last, version, key)
  SELECT $1::int8, g.id, now() + $8::int4 * interval '1 day', now(), least(g.run_at, now()),
         g.created_at, g.attempt, g.max_attempts, g.stage, g.priority, 5, true, g.version, g.key
  FROM deleted g WHERE $3::int2 = 5 AND $7::int2 < 3
), freed AS MATERIALIZED (
  SELECT g.id, g.key FROM deleted g WHERE g.key IS NOT NULL ORDER BY g.key
), released AS (
  -- By key, for the same reason.
  UPDATE skiplane.task_key k SET finished_at = now()
  FROM freed f
  WHERE $3::int2 = 5 AND k.lane = $1::int8 AND k.key = f.key AND k.task_id = f.id
  RETURNING 1
), forgotten AS (
  DELETE FROM skiplane.task_key k USING freed f
  WHERE $3::int2 = 6 AND k.lane = $1::int8 AND k.key = f.key AND k.task_id = f.id
  RETURNING 1
), worker AS MATERIALIZED (
  SELECT o.id, n.lease_no
  FROM (
    SELECT u.session, max(u.lease_no) AS lease_no
    FROM updated u WHERE u.effect = 3 GROUP BY u.session
  ) n
  JOIN skiplane.worker_session o ON o.id = n.session
  WHERE o.state = 1
    -- After the keys.
    AND (SELECT count(*) FROM released) + (SELECT count(*) FROM forgotten) >= 0
  ORDER BY o.worker_id COLLATE "C", o.id
  FOR UPDATE OF o
), notified AS (
  -- As session_tell has it.
  UPDATE skiplane.worker_session s SET recheck_until = greatest(s.recheck_until, w.lease_no)
  FROM worker w WHERE s.id = w.id
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
  INSERT INTO skiplane.error_delta (lane, stage, print, retrying)
  SELECT $1::int8, g.stage, g.error_print, -count(*)
  FROM deleted g WHERE g.error_print IS NOT NULL GROUP BY g.stage, g.error_print
)
SELECT u.id, u.effect, u.priority, u.stage, u.due = 0,
       CASE WHEN u.state = 1 AND u.run_at < 'infinity'
            THEN (date_part('epoch', u.run_at) * 1e6)::int8 END,
       (date_part('epoch', now()) * 1e6)::int8
FROM updated u
UNION ALL
SELECT g.id, 2, g.priority, g.stage, false, NULL, (date_part('epoch', now()) * 1e6)::int8
FROM deleted g
ORDER BY 1
