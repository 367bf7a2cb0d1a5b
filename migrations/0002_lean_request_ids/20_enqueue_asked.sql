-- Enqueues of calls with request ids that take enqueue_once.

-- Whether a task whose policy is to reject that has a key that another one holds. The columns are
-- those of enqueue_once; calls whose request ids are of an earlier commit are left out.
CREATE OR REPLACE FUNCTION skiplane.is_rejected(
  lanes bigint[], keys text[], ids bigint[], calls bigint[], policies smallint[],
  request_lanes bigint[], request_ids text[], first_ids bigint[])
RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (
    SELECT FROM unnest(lanes, keys, ids, calls, policies) AS u(lane, key, id, call, policy)
    CROSS JOIN LATERAL (
      SELECT o.task_id FROM skiplane.task_key o WHERE o.lane = u.lane AND o.key = u.key OFFSET 0
    ) k
    WHERE u.policy = 5 AND k.task_id <> u.id AND NOT EXISTS (
      SELECT FROM unnest(request_lanes, request_ids, first_ids) AS w(lane, request_id, first_id)
      CROSS JOIN LATERAL (
        SELECT o.first_id FROM skiplane.enqueue_request o
        WHERE o.lane = w.lane AND o.request_id = w.request_id
        UNION ALL
        SELECT a.first_id FROM skiplane.answered_request a
        WHERE a.head = skiplane.leading_bigint(convert_to(w.request_id, 'UTF8'))
          AND a.hash = skiplane.request_hash(w.lane, w.request_id)
        OFFSET 0
      ) r
      WHERE w.first_id = u.call AND r.first_id <> u.call))
$$;

-- As enqueue_once, of which it says more: makes tasks of any kind, of calls with a request id or
-- without. Tasks of calls whose request ids are known are left out. One element per call with a
-- request id, ordered by lane and id: heads, hashes and body_hashes as in answered_request,
-- first_ids, and request_lanes and request_ids, by which brokers before 0.2 know it.
-- The request ids are locked first: docs/adr/2026-11-22-one-lock-order.md.
CREATE FUNCTION skiplane.enqueue_asked(
  lanes bigint[], ids bigint[], starts timestamptz[], delays bigint[], attempts int[],
  priorities smallint[], content_types text[], headers text[], payloads bytea[], keys text[],
  calls bigint[], policies smallint[], versions bigint[], stages smallint[], periods bigint[],
  crons text[], time_zones text[], catch_ups smallint[], heads bigint[], hashes uuid[],
  body_hashes bigint[], first_ids bigint[], request_lanes bigint[], request_ids text[])
RETURNS TABLE (id bigint, lane bigint, priority smallint, can_run boolean, run_us bigint,
               now_us bigint, wanted_id bigint, outcome int, stage smallint, state smallint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  asked bigint[];  -- the first ids of calls whose request ids are new
  answer record;
BEGIN
  WITH added AS (
    INSERT INTO skiplane.answered_request (head, first_id, body_hash, create_time, hash)
    SELECT r.head, r.first_id, r.body_hash, now(), r.hash
    FROM unnest(heads, hashes, body_hashes, first_ids, request_lanes, request_ids)
      AS r(head, hash, body_hash, first_id, lane, request_id)
    WHERE NOT EXISTS (SELECT FROM skiplane.enqueue_request o
                      WHERE o.lane = r.lane AND o.request_id = r.request_id OFFSET 0)
    ON CONFLICT (head, hash) DO NOTHING
    RETURNING first_id
  )
  SELECT coalesce(array_agg(a.first_id), '{}') INTO asked FROM added a;
  IF cardinality(asked) < cardinality(first_ids) THEN
    SELECT coalesce(array_agg(u.lane), '{}'), coalesce(array_agg(u.id), '{}'),
           array_agg(u.start_at), array_agg(u.delay), array_agg(u.max_attempts),
           array_agg(u.priority), array_agg(u.content_type), array_agg(u.header),
           array_agg(u.payload), array_agg(u.key), array_agg(u.call),
           coalesce(array_agg(u.policy), '{}'), array_agg(u.version), array_agg(u.stage),
           array_agg(u.period), array_agg(u.cron), array_agg(u.time_zone), array_agg(u.catch_up)
    INTO lanes, ids, starts, delays, attempts, priorities, content_types, headers, payloads, keys,
         calls, policies, versions, stages, periods, crons, time_zones, catch_ups
    FROM unnest(lanes, ids, starts, delays, attempts, priorities, content_types, headers, payloads,
                keys, calls, policies, versions, stages, periods, crons, time_zones, catch_ups)
      AS u(lane, id, start_at, delay, max_attempts, priority, content_type, header, payload, key,
           call, policy, version, stage, period, cron, time_zone, catch_up)
    WHERE u.call = 0 OR u.call = ANY (asked);
  END IF;
  FOR answer IN SELECT e.* FROM skiplane.enqueue_once(
    lanes, ids, starts, delays, attempts, priorities, content_types, headers, payloads, keys,
    array_fill(0::bigint, ARRAY[cardinality(ids)]), policies, versions, stages, periods, crons,
    time_zones, catch_ups, '{}', '{}', '{}', '{}', false) e
  LOOP
    -- Nothing was made: no id may say otherwise.
    IF answer.outcome = 6 THEN
      DELETE FROM skiplane.answered_request r
      USING unnest(heads, hashes, first_ids) AS w(head, hash, first_id)
      WHERE r.head = ANY (ARRAY[w.head]) AND r.hash = w.hash
        AND r.first_id = w.first_id AND w.first_id = ANY (asked);
    END IF;
    id := answer.id; lane := answer.lane; priority := answer.priority;
    can_run := answer.can_run; run_us := answer.run_us; now_us := answer.now_us;
    wanted_id := answer.wanted_id; outcome := answer.outcome; stage := answer.stage;
    state := answer.state;
    RETURN NEXT;
  END LOOP;
END $$;
