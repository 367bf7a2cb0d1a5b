-- Starts failed tasks of a lane again, or removes them. $1 lane  $2 ids  $3 what: 6 remove,
-- 9 retry now  $4 max attempts by stage, from 0 (an element of 0: as they were)
-- One row per task that was changed: id, what became of it (1 starts again, 2 deleted), priority,
-- stage, whether ready, schedule time and time now in microseconds. A failed task whose id or key
-- lives again has no row, and stays. A row with a null id says that one went beside the statement:
-- to be rolled back, and tried again.
-- lanes: any because a lane that is given once lets a plan read all of it for single tasks
-- locks: any because a key that is about to live again must not be overtaken
WITH seen AS MATERIALIZED (
  SELECT f.lane, f.id, f.key, f.version
  FROM (SELECT DISTINCT u.id FROM unnest($2::int8[]) AS u(id) ORDER BY u.id) w
  CROSS JOIN LATERAL (
    SELECT o.* FROM skiplane.task_failed o WHERE o.lane = $1::int8 AND o.id = w.id OFFSET 0
  ) f
  WHERE $3::int2 = 6 OR NOT EXISTS (
    SELECT FROM skiplane.task t WHERE t.lane = $1::int8 AND t.id = f.id OFFSET 0)
), held AS (
  -- The keys come first, in their order: whoever starts a finished key again has them before the
  -- failed task.
  INSERT INTO skiplane.task_key AS k (lane, key, task_id, version)
  SELECT DISTINCT ON (s.key) $1::int8, s.key, s.id, s.version FROM seen s
  WHERE s.key IS NOT NULL AND $3::int2 = 9 ORDER BY s.key, s.id
  ON CONFLICT (lane, key) DO UPDATE SET end_time = NULL, end_state = NULL
  WHERE k.task_id = excluded.task_id AND k.end_time IS NOT NULL
  RETURNING k.task_id
), key_row AS MATERIALIZED (
  SELECT x.row_location
  FROM (SELECT s.id, s.key FROM seen s WHERE s.key IS NOT NULL AND $3::int2 = 6
        ORDER BY s.key, s.id) w
  CROSS JOIN LATERAL (
    SELECT o.ctid AS row_location FROM skiplane.task_key o
    WHERE o.lane = $1::int8 AND o.key = w.key AND o.task_id = w.id AND o.end_time IS NOT NULL
    FOR UPDATE
  ) x
), deleted AS (
  DELETE FROM skiplane.task_failed f USING seen s
  WHERE f.lane = ANY (ARRAY[s.lane]) AND f.id = s.id AND (SELECT count(*) FROM key_row) >= 0
    AND ($3::int2 = 6 OR s.key IS NULL OR s.id IN (SELECT h.task_id FROM held h))
  RETURNING f.id, f.create_time, f.max_attempts, f.stage, f.priority, f.version, f.key,
            f.content_type, f.headers, f.error_type, f.error_fingerprint, f.error_text,
            f.last_progress, f.payload
), forgotten AS (
  DELETE FROM skiplane.task_key k
  WHERE k.lane = $1::int8 AND k.ctid = ANY (ARRAY(SELECT p.row_location FROM key_row p))
), made AS (
  -- Without the fingerprint: the error group does not count it any more.
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, max_attempts, stage, priority, version, key,
     content_type, headers, error_type, error_text, last_progress, payload)
  SELECT $1::int8, g.id, now(), g.create_time,
         coalesce(nullif(($4::int4[])[g.stage + 1], 0), g.max_attempts), g.stage, g.priority,
         g.version, g.key, g.content_type, g.headers, g.error_type, g.error_text, g.last_progress,
         g.payload
  FROM deleted g WHERE $3::int2 = 9
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, failed)
  SELECT $1::int8, g.stage, 0, CASE WHEN $3::int2 = 9 THEN count(*) ELSE 0 END, -count(*)
  FROM deleted g GROUP BY g.stage
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, fingerprint, failed)
  SELECT $1::int8, g.stage, g.error_fingerprint, -count(*)
  FROM deleted g WHERE g.error_fingerprint IS NOT NULL GROUP BY g.stage, g.error_fingerprint
)
SELECT g.id, CASE WHEN $3::int2 = 9 THEN 1 ELSE 2 END, g.priority, g.stage, $3::int2 = 9,
       CASE WHEN $3::int2 = 9 THEN (date_part('epoch', now()) * 1e6)::int8 END,
       (date_part('epoch', now()) * 1e6)::int8
FROM deleted g
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL
WHERE (SELECT count(*) FROM held) <> (SELECT count(*) FROM deleted g WHERE g.key IS NOT NULL)
  AND $3::int2 = 9
