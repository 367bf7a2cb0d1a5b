-- Makes tasks of any kind, of any lanes, all or none: with a key or without, of calls with a
-- request id or without. What is known already is left out or changed, as its key policy has it.
-- $1-$9 as in task_enqueue  $10 keys (null: none)  $11 the first id of the task's call if that
-- has a request id, else 0  $12 key policies: 1 keep, 2 keep unfinished, 3 rerun if newer,
-- 4 replace waiting, 5 reject  $13 versions (null: none)  $14 stages  $15 periods in microseconds
-- (null)  $16 cron schedules (null)  $17 their time zones (null: UTC)  $18 missed times: 1 skipped,
-- 2 run; then one element per call with a request id, ordered by lane and id: $19 lanes
-- $20 request ids  $21 body hashes  $22 first ids
-- One row with a null id; and one per task that was made or changed: id, lane, priority, "can run
-- now", run time and time now in microseconds, the id that it was to get, outcome (1 created,
-- 3 replaced, 4 restarted, 5 rerun), stage.
-- A concurrent call with the same key or request id is waited for, not overtaken. An error 40001
-- says that a task or key changed during the statement: try again. An error 23505 says that a key
-- exists and its policy is to reject that.
-- lanes: any because the tasks of a call go to the lanes of their keys, all or none
-- locks: any because newer content must not miss the attempt that ends just now
WITH asked AS (
  INSERT INTO skiplane.request (lane, request_id, body_hash, first_id, created_at)
  SELECT r.lane, r.request_id, r.body_hash, r.first_id, now()
  FROM unnest($19::int8[], $20::text[], $21::bytea[], $22::int8[])
    AS r(lane, request_id, body_hash, first_id)
  ON CONFLICT (lane, request_id) DO NOTHING
  RETURNING first_id
), want AS MATERIALIZED (
  SELECT p.*, CASE WHEN p.catch_up = 2 THEN true END AS run_all,
         CASE WHEN p.cron IS NOT NULL OR p.period IS NOT NULL THEN p.run_at END AS planned_at,
         CASE WHEN p.run_at > p.created_at THEN ceil(date_part('epoch', p.run_at) / 10)::int
              ELSE 0 END AS due,
         -- Which of two tasks with one key counts: the last to replace, else the first.
         CASE WHEN p.policy = 4 THEN -p.id ELSE p.id END AS turn
  FROM (
    SELECT w.*,
           CASE WHEN w.cron IS NULL THEN w.not_before
                ELSE skiplane.cron_next(w.cron, coalesce(w.time_zone, 'UTC'),
                                        w.not_before - interval '1 microsecond') END AS run_at
    FROM (
      SELECT u.*, n.created_at,
             greatest(coalesce(u.start_at, n.created_at + u.delay * interval '1 microsecond'),
                      n.created_at) AS not_before
      FROM unnest($1::int8[], $2::int8[], $3::timestamptz[], $4::int8[], $5::int4[], $6::int2[],
                  $7::text[], $8::text[], $9::bytea[], $10::text[], $11::int8[], $12::int2[],
                  $13::int8[], $14::int2[], $15::int8[], $16::text[], $17::text[], $18::int2[])
        AS u(lane, id, start_at, delay, max_attempts, priority, content_type, headers, payload, key,
             call, policy, version, stage, period, cron, time_zone, catch_up)
      CROSS JOIN LATERAL (SELECT clock_timestamp() + 0 * u.delay * interval '1 microsecond'
                            AS created_at OFFSET 0) n
      WHERE u.call = 0 OR u.call IN (SELECT a.first_id FROM asked a)
    ) w
  ) p
), held AS (
  INSERT INTO skiplane.task_key (lane, key, task_id, version)
  SELECT w.lane, w.key, w.id, w.version
  FROM want w WHERE w.key IS NOT NULL
  ORDER BY w.lane, w.key, w.version DESC NULLS LAST, w.turn
  ON CONFLICT (lane, key) DO NOTHING
  RETURNING lane, key, task_id
), known AS MATERIALIZED (
  -- What stands in the way of a task that may change it: its key, and itself if it lives. The task
  -- is locked before its key, as everywhere.
  SELECT w.*, k.place AS key_place, k.task_id, k.finished_at, k.version AS known_version,
         t.place, t.state, t.lease_no, t.due AS old_due, t.stage AS old_stage,
         t.error_print AS old_print
  FROM want w
  CROSS JOIN LATERAL (
    SELECT o.ctid AS place, o.task_id, o.finished_at, o.version FROM skiplane.task_key o
    WHERE o.lane = w.lane AND o.key = w.key OFFSET 0
  ) k
  LEFT JOIN LATERAL (
    SELECT o.ctid AS place, o.state, o.lease_no, o.due, o.stage, o.error_print
    FROM skiplane.task o
    WHERE o.lane = w.lane AND o.id = k.task_id AND coalesce(w.version > k.version, true)
    FOR UPDATE
  ) t ON true
  WHERE w.policy BETWEEN 2 AND 4
), judged AS MATERIALIZED (
  SELECT k.*,
         row_number() OVER (PARTITION BY k.lane, k.key ORDER BY k.version DESC NULLS LAST, k.turn)
           AS rank,
         CASE
           WHEN k.version <= k.known_version THEN NULL
           WHEN k.finished_at IS NOT NULL THEN 4
           WHEN k.state = 1 AND k.policy IN (3, 4) THEN 3
           WHEN k.state = 2 AND k.policy = 3 THEN 5
           -- The key says that the task lives, but it is gone.
           WHEN k.state IS NULL THEN 40001 * skiplane.conflict()::int
         END AS outcome
  FROM known k
), chosen AS MATERIALIZED (
  SELECT j.* FROM judged j WHERE j.outcome IS NOT NULL AND j.rank = 1
), changed AS (
  UPDATE skiplane.task t
  SET payload = c.payload, content_type = c.content_type, headers = c.headers::jsonb,
      version = c.version, priority = c.priority, max_attempts = c.max_attempts,
      period = c.period, cron = c.cron, time_zone = c.time_zone,
      run_all = c.run_all, paused = CASE WHEN c.outcome = 5 THEN t.paused END,
      planned_at = CASE WHEN t.period = c.period OR (t.cron, t.time_zone) = (c.cron, c.time_zone)
                        THEN t.planned_at ELSE c.planned_at END,
      run_at = CASE WHEN c.outcome = 3 THEN c.run_at ELSE t.run_at END,
      due = CASE WHEN c.outcome = 3 THEN c.due ELSE t.due END,
      attempt = CASE WHEN c.outcome = 3 THEN 0 ELSE t.attempt END,
      stage = CASE WHEN c.outcome = 3 THEN c.stage ELSE t.stage END,
      rerun = CASE WHEN c.outcome = 5 THEN true END, cancel = NULL,
      error_type = CASE WHEN c.outcome = 5 THEN t.error_type END,
      error_print = CASE WHEN c.outcome = 5 THEN t.error_print END,
      error_text = CASE WHEN c.outcome = 5 THEN t.error_text END
  FROM chosen c
  WHERE c.outcome IN (3, 5) AND t.lane = c.lane AND t.ctid = c.place AND t.state = c.state
    AND t.lease_no = c.lease_no
  RETURNING t.id
), revived AS (
  DELETE FROM skiplane.task_failed f
  WHERE f.lane = ANY (ARRAY(SELECT c.lane FROM chosen c WHERE c.outcome = 4))
    AND f.id = ANY (ARRAY(SELECT c.task_id FROM chosen c WHERE c.outcome = 4))
  RETURNING f.lane, f.stage, f.error_print
), made AS (
  INSERT INTO skiplane.task
    (lane, id, run_at, created_at, due, max_attempts, priority, content_type, headers, payload, key,
     version, stage, period, cron, time_zone, run_all, planned_at)
  SELECT n.lane, n.id, n.run_at, n.created_at, n.due, n.max_attempts, n.priority, n.content_type,
         n.headers::jsonb, n.payload, n.key, n.version, n.stage, n.period, n.cron, n.time_zone,
         n.run_all, n.planned_at
  FROM want n
  WHERE n.key IS NULL OR n.id IN (SELECT h.task_id FROM held h)
  UNION ALL
  SELECT c.lane, c.task_id, c.run_at, c.created_at, c.due, c.max_attempts, c.priority,
         c.content_type, c.headers::jsonb, c.payload, c.key, c.version, c.stage, c.period, c.cron,
         c.time_zone, c.run_all, c.planned_at
  FROM chosen c WHERE c.outcome = 4
  RETURNING id, lane, priority, due, run_at, stage
), reheld AS (
  UPDATE skiplane.task_key k
  SET version = c.version, finished_at = NULL
  FROM chosen c
  WHERE k.lane = c.lane AND k.key = c.key AND k.ctid = c.key_place
  RETURNING k.task_id
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, failed)
  SELECT m.lane, m.stage, m.due, count(*), 0 FROM made m GROUP BY m.lane, m.stage, m.due
  UNION ALL
  SELECT c.lane, c.old_stage, c.old_due, -count(*), 0
  FROM chosen c WHERE c.outcome = 3 GROUP BY c.lane, c.old_stage, c.old_due
  UNION ALL
  SELECT c.lane, c.stage, c.due, count(*), 0
  FROM chosen c WHERE c.outcome = 3 GROUP BY c.lane, c.stage, c.due
  UNION ALL
  SELECT r.lane, r.stage, 0, 0, -count(*) FROM revived r GROUP BY r.lane, r.stage
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, print, retrying, failed)
  SELECT c.lane, c.old_stage, c.old_print, -count(*), 0
  FROM chosen c WHERE c.outcome = 3 AND c.old_print IS NOT NULL
  GROUP BY c.lane, c.old_stage, c.old_print
  UNION ALL
  SELECT r.lane, r.stage, r.error_print, 0, -count(*)
  FROM revived r WHERE r.error_print IS NOT NULL GROUP BY r.lane, r.stage, r.error_print
), complete AS (
  -- All that was chosen was done, and no key was made beside us that we could not see; or nothing.
  SELECT CASE
    WHEN EXISTS (SELECT FROM want w WHERE w.policy = 5
                   AND w.id NOT IN (SELECT h.task_id FROM held h)) THEN skiplane.key_exists()
    WHEN (SELECT count(*) FROM changed) <>
         (SELECT count(*) FROM chosen c WHERE c.outcome IN (3, 5))
      OR (SELECT count(*) FROM reheld) <> (SELECT count(*) FROM chosen)
      OR EXISTS (SELECT FROM want w
                 WHERE w.policy BETWEEN 2 AND 4
                   AND w.id NOT IN (SELECT k.id FROM known k)
                   AND (w.lane, w.key) NOT IN (SELECT h.lane, h.key FROM held h))
      THEN skiplane.conflict()
    END AS is_broken
)
SELECT NULL::int8, NULL::int8, NULL::int2, x.is_broken, NULL::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8, NULL::int8, NULL::int4, NULL::int2
FROM complete x
UNION ALL
SELECT m.id, m.lane, m.priority, m.due = 0, (date_part('epoch', m.run_at) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8, m.id, 1, m.stage
FROM made m
WHERE m.id NOT IN (SELECT c.task_id FROM chosen c)
UNION ALL
SELECT c.task_id, c.lane, c.priority, c.due = 0, (date_part('epoch', c.run_at) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8, c.id, c.outcome, c.stage
FROM chosen c
