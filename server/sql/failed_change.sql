-- Starts failed tasks of a lane again, or removes them. $1 lane  $2 ids  $3 what: 6 remove,
-- 9 retry now  $4 max attempts by stage, from 0 (an element of 0: as they were)
-- One row per task that was changed: id, what became of it (1 starts again, 2 gone), priority,
-- stage, "can run now", run time and time now in microseconds. A failed task whose id or key lives
-- again has no row, and stays.
WITH gone AS (
  DELETE FROM skiplane.task_failed f
  WHERE f.lane = $1::int8 AND f.id = ANY ($2::int8[])
    AND ($3::int2 = 6 OR NOT EXISTS (
      SELECT FROM skiplane.task t WHERE t.lane = $1::int8 AND t.id = f.id))
    AND ($3::int2 = 6 OR f.key IS NULL OR NOT EXISTS (
      SELECT FROM skiplane.task_key k
      WHERE k.lane = $1::int8 AND k.key = f.key
        AND (k.task_id <> f.id OR k.finished_at IS NULL)))
  RETURNING f.id, f.created_at, f.max_attempts, f.stage, f.priority, f.version, f.key,
            f.content_type, f.headers, f.error_print, f.payload
), held AS (
  INSERT INTO skiplane.task_key AS k (lane, key, task_id, version)
  SELECT $1::int8, g.key, g.id, g.version FROM gone g
  WHERE g.key IS NOT NULL AND $3::int2 = 9 ORDER BY g.key
  ON CONFLICT (lane, key) DO UPDATE SET finished_at = NULL
), forgotten AS (
  DELETE FROM skiplane.task_key k
  WHERE k.lane = $1::int8 AND $3::int2 = 6 AND k.ctid = ANY (ARRAY(
    SELECT x.place FROM gone g
    CROSS JOIN LATERAL (
      SELECT o.ctid AS place FROM skiplane.task_key o
      WHERE o.lane = $1::int8 AND o.key = g.key AND o.task_id = g.id
        AND o.finished_at IS NOT NULL OFFSET 0
    ) x
    WHERE g.key IS NOT NULL))
), made AS (
  INSERT INTO skiplane.task
    (lane, id, run_at, created_at, max_attempts, stage, priority, version, key, content_type,
     headers, payload)
  SELECT $1::int8, g.id, now(), g.created_at,
         coalesce(nullif(($4::int4[])[g.stage + 1], 0), g.max_attempts), g.stage, g.priority,
         g.version, g.key, g.content_type, g.headers, g.payload
  FROM gone g WHERE $3::int2 = 9
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, failed)
  SELECT $1::int8, g.stage, 0, CASE WHEN $3::int2 = 9 THEN count(*) ELSE 0 END, -count(*)
  FROM gone g GROUP BY g.stage
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, print, failed)
  SELECT $1::int8, g.stage, g.error_print, -count(*)
  FROM gone g WHERE g.error_print IS NOT NULL GROUP BY g.stage, g.error_print
)
SELECT g.id, CASE WHEN $3::int2 = 9 THEN 1 ELSE 2 END, g.priority, g.stage, $3::int2 = 9,
       CASE WHEN $3::int2 = 9 THEN (date_part('epoch', now()) * 1e6)::int8 END,
       (date_part('epoch', now()) * 1e6)::int8
FROM gone g
