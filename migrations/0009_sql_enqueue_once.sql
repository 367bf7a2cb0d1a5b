-- The SQL functions enqueue by the brokers' function.

-- Makes tasks that were found to be fine. One row per task: its place,
-- its number (null: another has its key) and the outcome (1 created, 2 existing, 3 replaced,
-- 4 restarted, 5 rerun). Whatever the caller's planner settings are: no join of whole tables.
CREATE OR REPLACE FUNCTION skiplane.write_tasks(
  settings jsonb, task_lanes bigint[], tasks skiplane.new_task[])
RETURNS TABLE (n int, id bigint, outcome int) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
RETURN QUERY
WITH want AS MATERIALIZED (
  SELECT u.*, c.id, c.stage_no, coalesce(u.run_at, clock_timestamp() + u.delay) AS start_at
  FROM unnest(tasks, task_lanes) WITH ORDINALITY
    AS u(payload, key, key_policy, version, priority, delay, run_at, max_attempts, headers,
         content_type, stage, period, cron, time_zone, run_all, lane, n)
  CROSS JOIN LATERAL (SELECT nextval('skiplane.task_id_sql') + 0 * u.n AS id,
                             skiplane.stage_number(settings, u.stage) AS stage_no OFFSET 0) c
), columns AS (
  SELECT array_agg(w.lane ORDER BY w.n) AS lanes, array_agg(w.id ORDER BY w.n) AS ids,
         array_agg(w.start_at ORDER BY w.n) AS starts,
         array_agg(coalesce(nullif(w.max_attempts, 0), skiplane.attempts_of(settings, w.stage_no))
                   ORDER BY w.n) AS attempts,
         array_agg(coalesce(w.priority, 0)::int2 ORDER BY w.n) AS priorities,
         array_agg(nullif(w.content_type, '') ORDER BY w.n) AS content_types,
         array_agg(nullif(w.headers, '{}')::text ORDER BY w.n) AS headers,
         array_agg(w.payload ORDER BY w.n) AS payloads, array_agg(w.key ORDER BY w.n) AS keys,
         array_agg(array_position(
           '{keep,keep_unfinished,rerun_if_newer,replace_waiting,reject}'::text[],
           coalesce(w.key_policy, 'keep'))::int2 ORDER BY w.n) AS policies,
         array_agg(nullif(w.version, 0) ORDER BY w.n) AS versions,
         array_agg(w.stage_no ORDER BY w.n) AS stages,
         array_agg((extract(epoch FROM w.period) * 1000000)::int8 ORDER BY w.n) AS periods,
         array_agg(w.cron ORDER BY w.n) AS crons,
         array_agg(nullif(w.time_zone, '') ORDER BY w.n) AS time_zones,
         array_agg(CASE WHEN w.run_all THEN 2 ELSE 1 END::int2 ORDER BY w.n) AS catch_ups,
         array_fill(0::int8, ARRAY[count(*)::int]) AS zeros
  FROM want w
)
SELECT max(r.n)::int, max(r.id), coalesce(max(r.outcome), 2)
FROM (
  SELECT w.id AS wanted_id, w.n, NULL::int8 AS id, NULL::int4 AS outcome FROM want w
  UNION ALL
  SELECT e.wanted_id, NULL, e.id, e.outcome
  FROM columns c
  CROSS JOIN LATERAL skiplane.enqueue_once(
    c.lanes, c.ids, c.starts, c.zeros, c.attempts, c.priorities, c.content_types, c.headers,
    c.payloads, c.keys, c.zeros, c.policies, c.versions, c.stages, c.periods, c.crons, c.time_zones,
    c.catch_ups, '{}', '{}', '{}', '{}', true) e
  WHERE e.id IS NOT NULL
) r
GROUP BY r.wanted_id;
END $$;

-- As in 0007: nothing for PUBLIC, and what they need for brokers of other roles than the owner.
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
    EXECUTE 'GRANT EXECUTE ON FUNCTION skiplane.enqueue_once TO ' || broker;
  END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION skiplane.enqueue_once FROM PUBLIC;
