-- Enqueues of what may be known already. Its locks come first, in the order of
-- docs/adr/2026-11-22-one-lock-order.md and in statements of their own: what it then reads, nobody
-- can change.

-- Makes tasks of any kind, of any lanes, all or none: with a key or without, of calls with a
-- request id or without. What is known already is left out or changed, as its key policy has it.
-- One element per task: calls, the first id of the task's call if that has a request id, else 0;
-- delays and periods in microseconds; policies: 1 keep, 2 keep unfinished, 3 rerun if newer,
-- 4 replace waiting, 5 reject, 6 schedule; catch_ups, of missed times: 1 skipped, 2 run. One
-- element per call with a request id, ordered by lane and id: request_lanes, request_ids,
-- body_hashes, first_ids.
-- notifies: whether the database tells the brokers of what can run.
-- One row with a null id, whose run_us is when the transaction began; and one per task that was
-- made or changed: id, lane, priority, "can run now", schedule time and time now in microseconds,
-- the id that it was to get, outcome (1 created, 3 replaced, 4 restarted, 5 rerun), stage. Then one
-- per task whose key another one holds (outcome 2): that one's id and state (1 scheduled, 2 ready,
-- 3 leased, 4 succeeded, 5 failed, 6 cancelled), also of those that were changed. Raises 40001 when
-- a task or key changed beside it: try again; and 23505 when a key exists whose policy is to reject
-- that: without notifies mostly one row says so, null but for outcome 6, and nothing is written.
CREATE FUNCTION skiplane.enqueue_once(
  lanes bigint[], ids bigint[], starts timestamptz[], delays bigint[], attempts int[],
  priorities smallint[], content_types text[], headers text[], payloads bytea[], keys text[],
  calls bigint[], policies smallint[], versions bigint[], stages smallint[], periods bigint[],
  crons text[], time_zones text[], catch_ups smallint[], request_lanes bigint[],
  request_ids text[], body_hashes bytea[], first_ids bigint[], notifies boolean)
RETURNS TABLE (id bigint, lane bigint, priority smallint, can_run boolean, run_us bigint,
               now_us bigint, wanted_id bigint, outcome int, stage smallint, state smallint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- What may change a known task locks first; what adds waits only for others that add the same.
  locks_first CONSTANT boolean := policies && '{2,3,4,6}'::smallint[];
  asked_before bigint[] := '{}';  -- calls whose request ids are ours
  held_before bigint[] := '{}';   -- tasks whose keys are ours
  declared_rows int := 0; answered_rows int; held_by_others skiplane.key_holder[];
BEGIN
-- A row tells brokers, not an error: that writes the whole statement to PostgreSQL's log.
IF NOT notifies AND policies && '{5}'::smallint[] AND skiplane.is_rejected(
  lanes, keys, ids, calls, policies, request_lanes, request_ids, first_ids) THEN
  outcome := 6; RETURN NEXT; RETURN;
END IF;
IF locks_first THEN
  IF cardinality(request_ids) > 0 THEN
    WITH asked AS (
      INSERT INTO skiplane.enqueue_request (lane, request_id, body_hash, first_id, create_time)
      SELECT r.lane, r.request_id, r.body_hash, r.first_id, now()
      FROM unnest(request_lanes, request_ids, body_hashes, first_ids)
        AS r(lane, request_id, body_hash, first_id)
      ON CONFLICT (lane, request_id) DO NOTHING
      RETURNING first_id
    )
    SELECT coalesce(array_agg(a.first_id), '{}') INTO asked_before FROM asked a;
  END IF;
  PERFORM FROM (
    SELECT DISTINCT u.lane, k.task_id
    FROM unnest(lanes, keys, calls, policies, versions) AS u(lane, key, call, policy, version)
    CROSS JOIN LATERAL (
      SELECT o.task_id, o.end_time, o.version FROM skiplane.task_key o
      WHERE o.lane = u.lane AND o.key = u.key OFFSET 0
    ) k
    WHERE u.policy IN (2, 3, 4, 6) AND k.end_time IS NULL
      AND coalesce(u.version > k.version, true) AND (u.call = 0 OR u.call = ANY (asked_before))
    ORDER BY u.lane, k.task_id
  ) w
  CROSS JOIN LATERAL (
    SELECT FROM skiplane.task o WHERE o.lane = w.lane AND o.id = w.task_id FOR UPDATE
  ) t;
  -- An update that is never done locks a key that exists.
  WITH held AS (
    INSERT INTO skiplane.task_key AS h (lane, key, task_id, version)
    SELECT DISTINCT ON (u.lane, u.key) u.lane, u.key, u.id, u.version
    FROM unnest(lanes, keys, ids, calls, policies, versions)
      AS u(lane, key, id, call, policy, version)
    LEFT JOIN LATERAL (
      SELECT true AS is_known, o.version FROM skiplane.task_key o
      WHERE o.lane = u.lane AND o.key = u.key OFFSET 0
    ) k ON true
    WHERE u.key IS NOT NULL AND (u.call = 0 OR u.call = ANY (asked_before))
      AND (k.is_known IS NULL
           OR u.policy IN (2, 3, 4, 6) AND coalesce(u.version > k.version, true))
    ORDER BY u.lane, u.key, u.version DESC NULLS LAST,
             CASE WHEN u.policy IN (4, 6) THEN -u.id ELSE u.id END
    ON CONFLICT (lane, key) DO UPDATE SET task_id = h.task_id WHERE false
    RETURNING task_id
  )
  SELECT coalesce(array_agg(h.task_id), '{}') INTO held_before FROM held h;
END IF;
IF policies && '{6}'::smallint[] THEN
  SELECT d.starts, d.delays INTO starts, delays
  FROM skiplane.declared_starts(ids, policies, periods, held_before, starts, delays) d;
END IF;
RETURN QUERY
WITH asked AS (
  INSERT INTO skiplane.enqueue_request (lane, request_id, body_hash, first_id, create_time)
  SELECT r.lane, r.request_id, r.body_hash, r.first_id, now()
  FROM unnest(request_lanes, request_ids, body_hashes, first_ids)
    AS r(lane, request_id, body_hash, first_id)
  WHERE NOT locks_first
  ON CONFLICT (lane, request_id) DO NOTHING
  RETURNING first_id
), want AS MATERIALIZED (
  SELECT p.*,
         CASE WHEN p.cron IS NOT NULL OR p.period IS NOT NULL THEN p.schedule_time END
           AS planned_time,
         CASE WHEN p.schedule_time > p.create_time
              THEN ceil(date_part('epoch', p.schedule_time) / 10)::int
              ELSE 0 END AS due,
         -- Which of two tasks with one key counts: the last to replace, else the first.
         CASE WHEN p.policy IN (4, 6) THEN -p.id ELSE p.id END AS turn
  FROM (
    SELECT w.*,
           CASE WHEN w.cron IS NULL THEN w.not_before
                ELSE skiplane.cron_next(w.cron, coalesce(w.time_zone, 'UTC'),
                                        w.not_before - interval '1 microsecond')
           END AS schedule_time
    FROM (
      SELECT u.*, n.create_time,
             greatest(coalesce(u.start_at, n.create_time + u.delay * interval '1 microsecond'),
                      n.create_time) AS not_before
      FROM unnest(lanes, ids, starts, delays, attempts, priorities, content_types, headers,
                  payloads, keys, calls, policies, versions, stages, periods, crons, time_zones,
                  catch_ups)
        AS u(lane, id, start_at, delay, max_attempts, priority, content_type, headers, payload, key,
             call, policy, version, stage, period, cron, time_zone, catch_up)
      CROSS JOIN LATERAL (SELECT clock_timestamp() + 0 * u.delay * interval '1 microsecond'
                            AS create_time OFFSET 0) n
      WHERE u.call = 0 OR u.call IN (SELECT a.first_id FROM asked a)
         OR u.call IN (SELECT unnest(asked_before))
    ) w
  ) p
), held AS (
  INSERT INTO skiplane.task_key (lane, key, task_id, version)
  SELECT w.lane, w.key, w.id, w.version
  FROM want w WHERE w.key IS NOT NULL AND NOT locks_first
  ORDER BY w.lane, w.key, w.version DESC NULLS LAST, w.turn
  ON CONFLICT (lane, key) DO NOTHING
  RETURNING task_id
), own AS MATERIALIZED (
  SELECT h.task_id FROM held h
  UNION ALL
  SELECT unnest(held_before)
), known AS MATERIALIZED (
  -- What stands in the way of a task that may change it: its key, and itself if it lives. Both are
  -- ours already; a task that took the key's place just now is taken if nobody has it.
  SELECT w.*, k.place AS key_place, k.task_id, k.end_time, k.version AS known_version,
         t.place, t.state, t.lease_number, t.due AS old_due, t.stage AS old_stage,
         t.error_fingerprint AS old_fingerprint
  FROM want w
  CROSS JOIN LATERAL (
    SELECT o.ctid AS place, o.task_id, o.end_time, o.version FROM skiplane.task_key o
    WHERE o.lane = w.lane AND o.key = w.key OFFSET 0
  ) k
  LEFT JOIN LATERAL (
    SELECT o.ctid AS place, o.state, o.lease_number, o.due, o.stage, o.error_fingerprint
    FROM skiplane.task o
    WHERE o.lane = w.lane AND o.id = k.task_id AND coalesce(w.version > k.version, true)
    FOR UPDATE SKIP LOCKED
  ) t ON true
  WHERE w.policy IN (2, 3, 4, 6)
), judged AS MATERIALIZED (
  SELECT k.*,
         row_number() OVER (PARTITION BY k.lane, k.key ORDER BY k.version DESC NULLS LAST, k.turn)
           AS rank,
         CASE
           WHEN k.version <= k.known_version OR k.task_id IN (SELECT o.task_id FROM own o) THEN NULL
           WHEN k.end_time IS NOT NULL THEN 4
           WHEN k.state = 1 AND k.policy IN (3, 4) THEN 3
           WHEN k.state = 2 AND k.policy = 3 THEN 5
           -- The key says that the task lives, but somebody else has it.
           WHEN k.state IS NULL THEN 0
         END AS outcome
  FROM known k
), chosen AS MATERIALIZED (  -- nothing if the call is to be broken off
  SELECT j.* FROM judged j
  WHERE j.outcome > 0 AND j.rank = 1 AND NOT EXISTS (SELECT FROM judged b WHERE b.outcome = 0)
), changed AS (
  UPDATE skiplane.task t
  SET payload = c.payload, content_type = c.content_type, headers = c.headers::jsonb,
      own_payload = NULL, own_content_type = NULL, own_headers = NULL, own_max_attempts = NULL,
      version = c.version, priority = c.priority, max_attempts = c.max_attempts, period = c.period,
      cron = c.cron, time_zone = c.time_zone, catch_up = nullif(c.catch_up, 1),
      paused = CASE WHEN c.outcome = 5 THEN t.paused END,
      planned_time = CASE WHEN t.period = c.period OR (t.cron, t.time_zone) = (c.cron, c.time_zone)
                        THEN t.planned_time ELSE c.planned_time END,
      schedule_time = CASE WHEN c.outcome = 3 THEN c.schedule_time ELSE t.schedule_time END,
      due = CASE WHEN c.outcome = 3 THEN c.due ELSE t.due END,
      attempt = CASE WHEN c.outcome = 3 THEN 0 ELSE t.attempt END,
      stage = CASE WHEN c.outcome = 3 THEN c.stage ELSE t.stage END,
      rerun_pending = CASE WHEN c.outcome = 5 THEN true END, cancel_requested = NULL,
      error_type = CASE WHEN c.outcome = 5 THEN t.error_type END,
      error_fingerprint = CASE WHEN c.outcome = 5 THEN t.error_fingerprint END,
      error_text = CASE WHEN c.outcome = 5 THEN t.error_text END,
      last_progress = CASE WHEN c.outcome = 5 THEN t.last_progress END
  FROM chosen c
  WHERE c.outcome IN (3, 5) AND t.lane = c.lane AND t.ctid = c.place AND t.state = c.state
    AND t.lease_number = c.lease_number
  RETURNING t.id
), reheld AS (
  UPDATE skiplane.task_key k
  SET version = c.version, end_time = NULL, end_state = NULL
  FROM chosen c
  WHERE k.lane = c.lane AND k.key = c.key AND k.ctid = c.key_place AND k.task_id = c.task_id
    AND k.end_time IS NOT DISTINCT FROM c.end_time
  RETURNING k.task_id
), revived AS (
  DELETE FROM skiplane.task_failed f
  WHERE f.lane = ANY (ARRAY(SELECT c.lane FROM chosen c WHERE c.outcome = 4))
    AND f.id = ANY (ARRAY(SELECT c.task_id FROM chosen c WHERE c.outcome = 4))
  RETURNING f.lane, f.stage, f.error_fingerprint
), made AS (
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, due, max_attempts, priority, content_type, headers,
     payload, key, version, stage, period, cron, time_zone, catch_up, planned_time)
  SELECT n.lane, n.id, n.schedule_time, n.create_time, n.due, n.max_attempts, n.priority,
         n.content_type, n.headers::jsonb, n.payload, n.key, n.version, n.stage, n.period,
         n.cron, n.time_zone, nullif(n.catch_up, 1), n.planned_time
  FROM want n
  WHERE n.key IS NULL OR n.id IN (SELECT o.task_id FROM own o)
  UNION ALL
  SELECT c.lane, c.task_id, c.schedule_time, c.create_time, c.due, c.max_attempts, c.priority,
         c.content_type, c.headers::jsonb, c.payload, c.key, c.version, c.stage, c.period, c.cron,
         c.time_zone, nullif(c.catch_up, 1), c.planned_time
  FROM chosen c WHERE c.outcome = 4
  RETURNING id, lane, priority, due, schedule_time, stage
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, failed, priority, notify_time)
  SELECT m.lane, m.stage, m.due, count(*), 0, CASE WHEN notifies THEN m.priority END,
         CASE WHEN notifies THEN skiplane.notify_time_of(min(m.schedule_time)) END
  FROM made m GROUP BY m.lane, m.stage, m.due, CASE WHEN notifies THEN m.priority END
  UNION ALL
  SELECT c.lane, c.old_stage, c.old_due, -count(*), 0, NULL, NULL
  FROM chosen c WHERE c.outcome = 3 GROUP BY c.lane, c.old_stage, c.old_due
  UNION ALL
  SELECT c.lane, c.stage, c.due, count(*), 0, CASE WHEN notifies THEN c.priority END,
         CASE WHEN notifies THEN skiplane.notify_time_of(min(c.schedule_time)) END
  FROM chosen c WHERE c.outcome = 3
  GROUP BY c.lane, c.stage, c.due, CASE WHEN notifies THEN c.priority END
  UNION ALL
  SELECT r.lane, r.stage, 0, 0, -count(*), NULL, NULL FROM revived r GROUP BY r.lane, r.stage
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, fingerprint, retrying, failed)
  SELECT c.lane, c.old_stage, c.old_fingerprint, -count(*), 0
  FROM chosen c WHERE c.outcome = 3 AND c.old_fingerprint IS NOT NULL
  GROUP BY c.lane, c.old_stage, c.old_fingerprint
  UNION ALL
  SELECT r.lane, r.stage, r.error_fingerprint, 0, -count(*)
  FROM revived r WHERE r.error_fingerprint IS NOT NULL GROUP BY r.lane, r.stage, r.error_fingerprint
), complete AS MATERIALIZED (
  -- All that was chosen was done, and no key came or went beside us that we could not see.
  SELECT NOT EXISTS (SELECT FROM want w WHERE w.policy = 5
                       AND w.id NOT IN (SELECT o.task_id FROM own o))
     AND NOT EXISTS (SELECT FROM judged j WHERE j.outcome = 0)
     AND (SELECT count(*) FROM changed) =
         (SELECT count(*) FROM chosen c WHERE c.outcome IN (3, 5))
     AND (SELECT count(*) FROM reheld) = (SELECT count(*) FROM chosen)
     AND NOT EXISTS (SELECT FROM want w
                     WHERE w.policy IN (2, 3, 4, 6) AND w.id NOT IN (SELECT k.id FROM known k))
         AS is_fine
)
SELECT NULL::int8, NULL::int8, NULL::int2, NULL::bool, (date_part('epoch', now()) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8, NULL::int8, NULL::int4, NULL::int2,
       NULL::int2
FROM complete x WHERE x.is_fine
UNION ALL
SELECT m.id, m.lane, m.priority, m.due = 0, (date_part('epoch', m.schedule_time) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8, m.id, 1, m.stage, NULL
FROM made m
WHERE m.id NOT IN (SELECT c.task_id FROM chosen c) AND (SELECT x.is_fine FROM complete x)
UNION ALL
SELECT c.task_id, c.lane, c.priority, c.due = 0, (date_part('epoch', c.schedule_time) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8, c.id, c.outcome, c.stage, NULL
FROM chosen c WHERE (SELECT x.is_fine FROM complete x);
GET DIAGNOSTICS answered_rows = ROW_COUNT;
-- Last: whatever the other tasks did to their keys, a declared schedule holds afterwards.
IF answered_rows > 0 AND policies && '{6}'::smallint[] THEN
  RETURN QUERY SELECT d.* FROM skiplane.declare_schedules(
    lanes, ids, starts, delays, attempts, priorities, content_types, headers, payloads, keys, calls,
    policies, stages, periods, crons, time_zones, catch_ups, asked_before, notifies) d;
  GET DIAGNOSTICS declared_rows = ROW_COUNT;
END IF;
IF answered_rows + declared_rows > cardinality(ids) THEN RETURN; ELSIF answered_rows > 0 THEN
  -- Who holds the other keys is told by this commit: afterwards nobody may know. A key that was
  -- freed meanwhile can be had by now.
  SELECT array_agg(h) INTO held_by_others
  FROM skiplane.key_holders(lanes, keys, ids, calls, request_lanes, request_ids) h;
  IF NOT EXISTS (SELECT FROM unnest(held_by_others) h WHERE h.holder IS NULL) THEN
    RETURN QUERY
    SELECT h.holder, h.lane, NULL::int2, NULL::bool, NULL::int8,
      (date_part('epoch', clock_timestamp()) * 1e6)::int8, h.id, 2, NULL::int2, h.state
    FROM unnest(held_by_others) h;
    RETURN;
  END IF;
END IF;
-- Raised here, as what is raised within a statement writes all of that to PostgreSQL's log.
IF skiplane.is_rejected(
  lanes, keys, ids, calls, policies, request_lanes, request_ids, first_ids) THEN
  RAISE 'a key exists' USING ERRCODE = '23505';
END IF;
RAISE 'a task or key changed beside the call' USING ERRCODE = '40001';
END $$;
