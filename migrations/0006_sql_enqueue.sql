-- The SQL door itself: enqueue, enqueue_json and enqueue_many. What they refuse is raised as 22023
-- with the argument's name, 42704 (no such queue), 55000 (paused) or 23505 (key_policy reject); a
-- conflict that a repeat of the transaction solves, as 40001.

-- Makes tasks of any kind that were found to be fine, all or none, as task_enqueue_once.sql of the
-- brokers does; see there. One row per task: its place, its number (null: another has its key) and
-- the outcome (1 created, 2 existing, 3 replaced, 4 restarted, 5 rerun). Raises 40001 and 23505.
-- Whatever the caller's planner settings are: no join of whole tables.
CREATE FUNCTION skiplane.write_tasks(
  settings jsonb, task_lanes bigint[], tasks skiplane.new_task[])
RETURNS TABLE (n int, id bigint, outcome int) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
RETURN QUERY
WITH want AS MATERIALIZED (
  SELECT p.*,
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
      SELECT u.n::int, u.lane, c.id, c.created_at, u.payload, u.key, u.cron,
             nullif(u.version, 0) AS version, coalesce(u.priority, 0)::smallint AS priority,
             (extract(epoch FROM u.period) * 1000000)::int8 AS period,
             nullif(u.time_zone, '') AS time_zone, nullif(u.run_all, false) AS run_all,
             nullif(u.content_type, '') AS content_type, nullif(u.headers, '{}') AS headers,
             c.stage,
             coalesce(nullif(u.max_attempts, 0), skiplane.attempts_of(settings, c.stage))
               AS max_attempts,
             array_position('{keep,keep_unfinished,rerun_if_newer,replace_waiting,reject}'::text[],
                            coalesce(u.key_policy, 'keep')) AS policy,
             greatest(coalesce(u.run_at, c.created_at + u.delay), c.created_at) AS not_before
      FROM unnest(tasks, task_lanes) WITH ORDINALITY
        AS u(payload, key, key_policy, version, priority, delay, run_at, max_attempts, headers,
             content_type, stage, period, cron, time_zone, run_all, lane, n)
      CROSS JOIN LATERAL (
        SELECT clock_timestamp() + 0 * u.n * interval '1 microsecond' AS created_at,
               nextval('skiplane.task_id_sql') + 0 * u.n AS id,
               skiplane.stage_number(settings, u.stage) AS stage OFFSET 0
      ) c
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
  -- The task is locked before its key, as everywhere.
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
           WHEN k.state IS NULL THEN 40001 * skiplane.conflict()::int
         END AS outcome
  FROM known k
), chosen AS MATERIALIZED (
  SELECT j.* FROM judged j WHERE j.outcome IS NOT NULL AND j.rank = 1
), changed AS (
  UPDATE skiplane.task t
  SET payload = c.payload, content_type = c.content_type, headers = c.headers,
      version = c.version, priority = c.priority, max_attempts = c.max_attempts,
      period = c.period, cron = c.cron, time_zone = c.time_zone,
      run_all = c.run_all, paused = CASE WHEN c.outcome = 5 THEN t.paused END,
      planned_at = CASE WHEN t.period = c.period OR (t.cron, t.time_zone) = (c.cron, c.time_zone)
                        THEN t.planned_at ELSE c.planned_at END,
      run_at = CASE WHEN c.outcome = 3 THEN c.run_at ELSE t.run_at END,
      due = CASE WHEN c.outcome = 3 THEN c.due ELSE t.due END,
      attempt = CASE WHEN c.outcome = 3 THEN 0 ELSE t.attempt END,
      stage = CASE WHEN c.outcome = 3 THEN c.stage ELSE t.stage END,
      rerun = CASE WHEN c.outcome = 5 THEN true END,
      error_type = CASE WHEN c.outcome = 5 THEN t.error_type END,
      error_print = CASE WHEN c.outcome = 5 THEN t.error_print END,
      error_text = CASE WHEN c.outcome = 5 THEN t.error_text END
  FROM chosen c
  WHERE c.outcome IN (3, 5) AND t.lane = c.lane AND t.ctid = c.place AND t.state = c.state
    AND t.lease_no = c.lease_no
  RETURNING t.id
), revived AS (
  DELETE FROM skiplane.task_failed f
  USING chosen c
  WHERE c.outcome = 4 AND f.lane = c.lane AND f.id = c.task_id
  RETURNING f.lane, f.stage, f.error_print
), made AS (
  INSERT INTO skiplane.task
    (lane, id, run_at, created_at, due, max_attempts, priority, content_type, headers, payload, key,
     version, stage, period, cron, time_zone, run_all, planned_at)
  SELECT n.lane, n.id, n.run_at, n.created_at, n.due, n.max_attempts, n.priority, n.content_type,
         n.headers, n.payload, n.key, n.version, n.stage, n.period, n.cron, n.time_zone, n.run_all,
         n.planned_at
  FROM want n
  WHERE n.key IS NULL OR n.id IN (SELECT h.task_id FROM held h)
  UNION ALL
  SELECT c.lane, c.task_id, c.run_at, c.created_at, c.due, c.max_attempts, c.priority,
         c.content_type, c.headers, c.payload, c.key, c.version, c.stage, c.period, c.cron,
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
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, failed, priority, hint_at)
  SELECT m.lane, m.stage, m.due, count(*), 0, m.priority, skiplane.hint_time(min(m.run_at))
  FROM made m GROUP BY m.lane, m.stage, m.due, m.priority
  UNION ALL
  SELECT c.lane, c.old_stage, c.old_due, -count(*), 0, NULL, NULL
  FROM chosen c WHERE c.outcome = 3 GROUP BY c.lane, c.old_stage, c.old_due
  UNION ALL
  SELECT c.lane, c.stage, c.due, count(*), 0, c.priority, skiplane.hint_time(min(c.run_at))
  FROM chosen c WHERE c.outcome = 3 GROUP BY c.lane, c.stage, c.due, c.priority
  UNION ALL
  SELECT r.lane, r.stage, 0, 0, -count(*), NULL, NULL FROM revived r GROUP BY r.lane, r.stage
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, print, retrying, failed)
  SELECT c.lane, c.old_stage, c.old_print, -count(*), 0
  FROM chosen c WHERE c.outcome = 3 AND c.old_print IS NOT NULL
  GROUP BY c.lane, c.old_stage, c.old_print
  UNION ALL
  SELECT r.lane, r.stage, r.error_print, 0, -count(*)
  FROM revived r WHERE r.error_print IS NOT NULL GROUP BY r.lane, r.stage, r.error_print
), complete AS (
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
SELECT r.n, max(r.id), coalesce(max(r.outcome), 2)
FROM (
  SELECT w.n, CASE WHEN w.id IN (SELECT m.id FROM made m) THEN w.id END AS id,
         CASE WHEN w.id IN (SELECT m.id FROM made m) THEN 1 END AS outcome
  FROM want w WHERE (SELECT x.is_broken FROM complete x) IS NULL
  UNION ALL
  SELECT c.n, c.task_id, c.outcome FROM chosen c
) r
GROUP BY r.n;
END $$;

-- Makes tasks that were found to be fine. One row each, in their order.
CREATE FUNCTION skiplane.make_tasks(
  settings jsonb, lanes bigint[], tasks skiplane.new_task[])
RETURNS TABLE (ordinal int, task_id text, outcome text) LANGUAGE plpgsql AS $$
DECLARE
  -- Tasks without a key stay together, so that they are leased in their order.
  common CONSTANT bigint := lanes[1 + CASE WHEN cardinality(lanes) = 1 THEN 0
    ELSE nextval('skiplane.task_id_sql') / 64 % cardinality(lanes) END];
  task_lanes CONSTANT bigint[] := ARRAY(
    SELECT CASE WHEN t.key IS NULL THEN common ELSE skiplane.lane_of_key(lanes, t.key) END
    FROM unnest(tasks) WITH ORDINALITY AS t ORDER BY t.ordinality);
  ids bigint[];
  outcomes int[];
BEGIN
  IF NOT EXISTS (SELECT FROM unnest(tasks) AS t WHERE t.key_policy <> 'keep') THEN
    SELECT array_agg(w.id ORDER BY w.n), array_agg(w.outcome ORDER BY w.n) INTO ids, outcomes
    FROM skiplane.write_tasks(settings, task_lanes, tasks) AS w;
  ELSE  -- what can conflict, each in a subtransaction
    FOR try IN 1..8 LOOP
      BEGIN
        SELECT array_agg(w.id ORDER BY w.n), array_agg(w.outcome ORDER BY w.n) INTO ids, outcomes
        FROM skiplane.write_tasks(settings, task_lanes, tasks) AS w;
        EXIT;
      EXCEPTION
        WHEN serialization_failure THEN
          IF try = 8 OR current_setting('transaction_isolation') <> 'read committed' THEN RAISE;
          END IF;
        WHEN unique_violation THEN PERFORM skiplane.refuse_key(task_lanes, tasks);
      END;
    END LOOP;
  END IF;
  RETURN QUERY
  SELECT t.n::int,
         concat(t.lane, '-', CASE WHEN t.id IS NOT NULL THEN t.id ELSE coalesce(
           (SELECT k.task_id FROM skiplane.task_key k WHERE k.lane = t.lane AND k.key = t.key),
           skiplane.conflict()::int) END),
         ('{created,existing,replaced,restarted,rerun}'::text[])[t.outcome]
  FROM unnest(tasks, task_lanes, ids, outcomes) WITH ORDINALITY
    AS t(payload, key, key_policy, version, priority, delay, run_at, max_attempts, headers,
         content_type, stage, period, cron, time_zone, run_all, lane, id, outcome, n)
  ORDER BY t.n;
END $$;

-- Enqueues one task; its id, as the API spells it. With a key that is known, the id of its holder.
CREATE FUNCTION skiplane.enqueue(
  queue text, payload bytea, key text DEFAULT NULL, key_policy text DEFAULT 'keep',
  version bigint DEFAULT NULL, priority int DEFAULT 0, delay interval DEFAULT NULL,
  run_at timestamptz DEFAULT NULL, max_attempts int DEFAULT NULL, headers jsonb DEFAULT NULL,
  content_type text DEFAULT NULL, stage text DEFAULT NULL, period interval DEFAULT NULL,
  cron text DEFAULT NULL, time_zone text DEFAULT NULL, run_all boolean DEFAULT false)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  task CONSTANT skiplane.new_task := ROW(payload, key, key_policy, version, priority, delay, run_at,
    max_attempts, headers, content_type, stage, period, cron, time_zone, run_all);
  place CONSTANT record := skiplane.open_queue(queue);
  problem CONSTANT text := skiplane.task_problem(place.settings, task);
  number CONSTANT bigint := nextval('skiplane.task_id_sql');
  lane bigint := place.lanes[1 + number / 64 % cardinality(place.lanes)];
  is_special boolean := period IS NOT NULL OR cron IS NOT NULL;
  step CONSTANT smallint := skiplane.stage_number(place.settings, stage);
  made_at CONSTANT timestamptz := clock_timestamp();
  starts_at timestamptz;
  due int;
BEGIN
  IF problem IS NOT NULL THEN RAISE '%', problem USING ERRCODE = '22023'; END IF;
  IF key IS NOT NULL AND NOT is_special THEN  -- a new key is as good as none
    lane := skiplane.lane_of_key(place.lanes, key);
    INSERT INTO skiplane.task_key (lane, key, task_id, version)
    VALUES (lane, key, number, nullif(version, 0))
    ON CONFLICT ON CONSTRAINT task_key_pkey DO NOTHING;
    is_special := NOT FOUND;
  END IF;
  IF is_special THEN
    RETURN (SELECT m.task_id FROM skiplane.make_tasks(place.settings, place.lanes, ARRAY[task]) m);
  END IF;
  starts_at := greatest(coalesce(run_at, made_at + delay), made_at);
  due := skiplane.due_of(starts_at, made_at);
  INSERT INTO skiplane.task
    (lane, id, run_at, created_at, due, max_attempts, stage, priority, content_type, headers,
     payload, key, version)
  VALUES (lane, number, starts_at, made_at, due,
          coalesce(nullif(max_attempts, 0), skiplane.attempts_of(place.settings, step)), step,
          coalesce(priority, 0), nullif(content_type, ''), nullif(headers, '{}'), payload,
          key, nullif(version, 0));
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, priority, hint_at)
  VALUES (lane, step, due, 1, coalesce(priority, 0), skiplane.hint_time(starts_at));
  RETURN concat(lane, '-', number);
END $$;

-- The same with a JSON payload: its text, and the content type that says so.
CREATE FUNCTION skiplane.enqueue_json(
  queue text, payload jsonb, key text DEFAULT NULL, key_policy text DEFAULT 'keep',
  version bigint DEFAULT NULL, priority int DEFAULT 0, delay interval DEFAULT NULL,
  run_at timestamptz DEFAULT NULL, max_attempts int DEFAULT NULL, headers jsonb DEFAULT NULL,
  content_type text DEFAULT 'application/json', stage text DEFAULT NULL,
  period interval DEFAULT NULL, cron text DEFAULT NULL, time_zone text DEFAULT NULL,
  run_all boolean DEFAULT false)
RETURNS text LANGUAGE sql VOLATILE
RETURN skiplane.enqueue(
  queue, convert_to(payload::text, 'UTF8'), key, key_policy, version, priority, delay, run_at,
  max_attempts, headers, content_type, stage, period, cron, time_zone, run_all);

-- Enqueues many tasks, all or none, in one statement. One row each, in their order, from 1.
CREATE FUNCTION skiplane.enqueue_many(queue text, tasks skiplane.new_task[])
RETURNS TABLE (ordinal int, task_id text, outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place CONSTANT record := skiplane.open_queue(queue);
  bad record;
BEGIN
  SELECT t.ordinality AS n, skiplane.task_problem(place.settings, t.task) AS problem INTO bad
  FROM (SELECT u.ordinality, ROW(u.payload, u.key, u.key_policy, u.version, u.priority, u.delay,
                 u.run_at, u.max_attempts, u.headers, u.content_type, u.stage, u.period, u.cron,
                 u.time_zone, u.run_all)::skiplane.new_task AS task
        FROM unnest(tasks) WITH ORDINALITY AS u OFFSET 0) t
  WHERE skiplane.task_problem(place.settings, t.task) IS NOT NULL
  LIMIT 1;
  IF FOUND THEN RAISE 'tasks[%].%', bad.n, bad.problem USING ERRCODE = '22023'; END IF;
  IF coalesce(cardinality(tasks), 0) = 0 THEN RETURN; END IF;
  RETURN QUERY SELECT * FROM skiplane.make_tasks(place.settings, place.lanes, tasks);
END $$;
