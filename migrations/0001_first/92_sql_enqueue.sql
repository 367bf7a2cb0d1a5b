-- The SQL API's functions: enqueue, enqueue_json and enqueue_many. What they refuse is raised as
-- 22023 with the argument's name, 42704 (no such queue), 55000 (paused), 53400 (full) or 23505
-- (key_policy reject); a conflict that a repeat of the transaction solves, as 40001.

-- Makes tasks that were found to be fine, by the function that brokers use. One row per task: its
-- ordinal, its number, or that of the task that has its key, the outcome (1 created, 2 existing,
-- 3 replaced, 4 restarted, 5 rerun) and its state (1 scheduled, 2 ready, 3 leased, 4 succeeded,
-- 5 failed, 6 cancelled).
-- Whatever the caller's planner settings are: no join of whole tables.
CREATE FUNCTION skiplane.write_tasks(
  settings jsonb, task_lanes bigint[], tasks skiplane.new_task[])
RETURNS TABLE (n int, id bigint, outcome int, state int) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
RETURN QUERY
WITH want AS MATERIALIZED (
  SELECT u.*, c.id, c.stage_no, coalesce(u.schedule_time, clock_timestamp() + u.delay) AS start_at
  FROM unnest(tasks, task_lanes) WITH ORDINALITY
    AS u(payload, key, key_policy, version, priority, delay, schedule_time, max_attempts, headers,
         content_type, stage, period, cron, time_zone, catch_up, lane, n)
  CROSS JOIN LATERAL (SELECT nextval('skiplane.task_id_sql') + 0 * u.n AS id,
                             skiplane.stage_number(settings, u.stage) AS stage_no OFFSET 0) c
), columns AS (
  SELECT array_agg(w.lane ORDER BY w.n) AS lanes, array_agg(w.id ORDER BY w.n) AS ids,
         array_agg(w.start_at ORDER BY w.n) AS starts,
         array_agg(coalesce(w.max_attempts, skiplane.attempts_of(settings, w.stage_no))
                   ORDER BY w.n) AS attempts,
         array_agg(coalesce(w.priority, 0)::int2 ORDER BY w.n) AS priorities,
         array_agg(nullif(w.content_type, '') ORDER BY w.n) AS content_types,
         array_agg(nullif(w.headers, '{}')::text ORDER BY w.n) AS headers,
         array_agg(w.payload ORDER BY w.n) AS payloads, array_agg(w.key ORDER BY w.n) AS keys,
         array_agg(array_position(
           '{keep,keep_unfinished,rerun_if_newer,replace_waiting,reject,schedule}'::text[],
           coalesce(w.key_policy, 'keep'))::int2 ORDER BY w.n) AS policies,
         array_agg(w.version ORDER BY w.n) AS versions,
         array_agg(w.stage_no ORDER BY w.n) AS stages,
         array_agg((extract(epoch FROM w.period) * 1000000)::int8 ORDER BY w.n) AS periods,
         array_agg(w.cron ORDER BY w.n) AS crons,
         array_agg(nullif(w.time_zone, '') ORDER BY w.n) AS time_zones,
         array_agg(CASE WHEN w.catch_up = 'run_all' THEN 2 ELSE 1 END::int2
                   ORDER BY w.n) AS catch_ups,
         array_fill(0::int8, ARRAY[count(*)::int]) AS zeros
  FROM want w
)
SELECT max(r.n)::int, max(r.id), max(r.outcome), max(r.state)
FROM (
  SELECT w.id AS wanted_id, w.n, NULL::int8 AS id, NULL::int4 AS outcome, NULL::int4 AS state
  FROM want w
  UNION ALL
  SELECT e.wanted_id, NULL, e.id, e.outcome,
         coalesce(e.state, CASE WHEN e.outcome = 5 THEN 3 WHEN e.can_run THEN 2 ELSE 1 END)
  FROM columns c
  CROSS JOIN LATERAL skiplane.enqueue_once(
    c.lanes, c.ids, c.starts, c.zeros, c.attempts, c.priorities, c.content_types, c.headers,
    c.payloads, c.keys, c.zeros, c.policies, c.versions, c.stages, c.periods, c.crons, c.time_zones,
    c.catch_ups, '{}', '{}', '{}', '{}', true) e
  WHERE e.id IS NOT NULL
) r
GROUP BY r.wanted_id;
END $$;

-- Makes tasks that were found to be fine. One row each, in their order.
CREATE FUNCTION skiplane.make_tasks(
  settings jsonb, lanes bigint[], tasks skiplane.new_task[])
RETURNS TABLE (ordinal int, task_id text, outcome text, state text) LANGUAGE plpgsql AS $$
DECLARE
  -- Tasks without a key stay together, so that they are leased in their order.
  common CONSTANT bigint := lanes[1 + CASE WHEN cardinality(lanes) = 1 THEN 0
    ELSE nextval('skiplane.task_id_sql') / 64 % cardinality(lanes) END];
  task_lanes CONSTANT bigint[] := ARRAY(
    SELECT CASE WHEN t.key IS NULL THEN common ELSE skiplane.lane_of_key(lanes, t.key) END
    FROM unnest(tasks) WITH ORDINALITY AS t ORDER BY t.ordinality);
  ids bigint[];
  outcomes int[];
  states int[];
BEGIN
  IF NOT EXISTS (SELECT FROM unnest(tasks) AS t WHERE t.key_policy <> 'keep') THEN
    SELECT array_agg(w.id ORDER BY w.n), array_agg(w.outcome ORDER BY w.n),
           array_agg(w.state ORDER BY w.n) INTO ids, outcomes, states
    FROM skiplane.write_tasks(settings, task_lanes, tasks) AS w;
  ELSE  -- what can conflict, each in a subtransaction
    FOR try IN 1..8 LOOP
      BEGIN
        SELECT array_agg(w.id ORDER BY w.n), array_agg(w.outcome ORDER BY w.n),
               array_agg(w.state ORDER BY w.n) INTO ids, outcomes, states
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
  SELECT t.n::int, concat(t.lane, '-', t.id),
         ('{created,existing,replaced,restarted,rerun}'::text[])[t.outcome],
         ('{scheduled,ready,leased,succeeded,failed,cancelled}'::text[])[t.state]
  FROM unnest(task_lanes, ids, outcomes, states) WITH ORDINALITY AS t(lane, id, outcome, state, n)
  ORDER BY t.n;
END $$;

-- Enqueues one task; its id, as the API spells it. With a key that is known, the id of its holder.
CREATE FUNCTION skiplane.enqueue(
  queue text, payload bytea, key text DEFAULT NULL, key_policy text DEFAULT 'keep',
  version bigint DEFAULT NULL, priority int DEFAULT 0, delay interval DEFAULT NULL,
  schedule_time timestamptz DEFAULT NULL, max_attempts int DEFAULT NULL, headers jsonb DEFAULT NULL,
  content_type text DEFAULT NULL, stage text DEFAULT NULL, period interval DEFAULT NULL,
  cron text DEFAULT NULL, time_zone text DEFAULT NULL, catch_up text DEFAULT 'skip_missed')
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  task CONSTANT skiplane.new_task := ROW(payload, key, key_policy, version, priority, delay,
    schedule_time, max_attempts, headers, content_type, stage, period, cron, time_zone, catch_up);
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
  IF place.settings ? 'max_depth' THEN
    PERFORM skiplane.check_room(queue, place.settings, place.lanes, 1);
  END IF;
  IF key IS NOT NULL AND NOT is_special THEN  -- a new key is as good as none
    lane := skiplane.lane_of_key(place.lanes, key);
    INSERT INTO skiplane.task_key (lane, key, task_id, version)
    VALUES (lane, key, number, version)
    ON CONFLICT ON CONSTRAINT task_key_pkey DO NOTHING;
    is_special := NOT FOUND;
  END IF;
  IF is_special THEN
    RETURN (SELECT m.task_id FROM skiplane.make_tasks(place.settings, place.lanes, ARRAY[task]) m);
  END IF;
  starts_at := greatest(coalesce(schedule_time, made_at + delay), made_at);
  due := skiplane.due_slot(starts_at, made_at);
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, due, max_attempts, stage, priority, content_type,
     headers, payload, key, version)
  VALUES (lane, number, starts_at, made_at, due,
          coalesce(max_attempts, skiplane.attempts_of(place.settings, step)), step,
          coalesce(priority, 0), nullif(content_type, ''), nullif(headers, '{}'), payload,
          key, version);
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, priority, notify_time)
  VALUES (lane, step, due, 1, coalesce(priority, 0), skiplane.notify_time_of(starts_at));
  RETURN concat(lane, '-', number);
END $$;

-- The same with a JSON payload: its text, and the content type that says so.
CREATE FUNCTION skiplane.enqueue_json(
  queue text, payload jsonb, key text DEFAULT NULL, key_policy text DEFAULT 'keep',
  version bigint DEFAULT NULL, priority int DEFAULT 0, delay interval DEFAULT NULL,
  schedule_time timestamptz DEFAULT NULL, max_attempts int DEFAULT NULL, headers jsonb DEFAULT NULL,
  content_type text DEFAULT 'application/json', stage text DEFAULT NULL,
  period interval DEFAULT NULL, cron text DEFAULT NULL, time_zone text DEFAULT NULL,
  catch_up text DEFAULT 'skip_missed')
RETURNS text LANGUAGE sql VOLATILE
RETURN skiplane.enqueue(
  queue, convert_to(payload::text, 'UTF8'), key, key_policy, version, priority, delay,
  schedule_time, max_attempts, headers, content_type, stage, period, cron, time_zone, catch_up);

-- Enqueues many tasks, all or none, in one statement. One row each, in their order, from 1.
CREATE FUNCTION skiplane.enqueue_many(queue text, tasks skiplane.new_task[])
RETURNS TABLE (ordinal int, task_id text, outcome text, state text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place CONSTANT record := skiplane.open_queue(queue);
  bad record;
BEGIN
  SELECT t.ordinality AS n, skiplane.task_problem(place.settings, t.task) AS problem INTO bad
  FROM (SELECT u.ordinality, ROW(u.payload, u.key, u.key_policy, u.version, u.priority, u.delay,
                 u.schedule_time, u.max_attempts, u.headers, u.content_type, u.stage, u.period,
                 u.cron, u.time_zone, u.catch_up)::skiplane.new_task AS task
        FROM unnest(tasks) WITH ORDINALITY AS u OFFSET 0) t
  WHERE skiplane.task_problem(place.settings, t.task) IS NOT NULL
  LIMIT 1;
  IF FOUND THEN RAISE 'tasks[%].%', bad.n, bad.problem USING ERRCODE = '22023'; END IF;
  IF coalesce(cardinality(tasks), 0) = 0 THEN RETURN; END IF;
  IF place.settings ? 'max_depth' THEN
    PERFORM skiplane.check_room(queue, place.settings, place.lanes, cardinality(tasks));
  END IF;
  RETURN QUERY SELECT * FROM skiplane.make_tasks(place.settings, place.lanes, tasks);
END $$;
