-- Who holds the keys of tasks that enqueue_once did not make: it tells that in its own commit.

CREATE TYPE skiplane.key_holder AS (lane bigint, id bigint, holder bigint, state smallint);

-- One row per element of keys that another task than that of ids holds, or nobody (holder null):
-- its lane and id, the holder and the holder's state (1 scheduled, 2 ready, 3 leased, 4 succeeded,
-- 5 failed, 6 cancelled). The columns are those of enqueue_once; calls whose request ids are of an
-- earlier commit are left out.
CREATE FUNCTION skiplane.key_holders(
  lanes bigint[], keys text[], ids bigint[], calls bigint[], request_lanes bigint[],
  request_ids text[])
RETURNS SETOF skiplane.key_holder
LANGUAGE sql VOLATILE AS $$
  SELECT u.lane, u.id, x.task_id, x.state
  FROM unnest(lanes, keys, ids, calls) AS u(lane, key, id, call)
  LEFT JOIN LATERAL (
    SELECT o.task_id, coalesce(o.end_state, (
             SELECT CASE WHEN t.state = 2 THEN 3 WHEN t.schedule_time > clock_timestamp() THEN 1
                         ELSE 2 END
             FROM skiplane.task t WHERE t.lane = u.lane AND t.id = o.task_id), 2)::int2 AS state
    FROM skiplane.task_key o WHERE o.lane = u.lane AND o.key = u.key OFFSET 0
  ) x ON true
  WHERE u.key IS NOT NULL AND x.task_id IS DISTINCT FROM u.id
    AND (u.call = 0 OR u.call IN (
      SELECT r.first_id
      FROM unnest(request_lanes, request_ids) AS w(lane, request_id)
      CROSS JOIN LATERAL (
        SELECT o.first_id FROM skiplane.enqueue_request o
        WHERE o.lane = w.lane AND o.request_id = w.request_id OFFSET 0
      ) r))
$$;

-- Whether a task whose policy is to reject that has a key that another one holds. The columns are
-- those of enqueue_once; calls whose request ids are of an earlier commit are left out.
CREATE FUNCTION skiplane.is_rejected(
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
        WHERE o.lane = w.lane AND o.request_id = w.request_id OFFSET 0
      ) r
      WHERE w.first_id = u.call AND r.first_id <> u.call))
$$;
