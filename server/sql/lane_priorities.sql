-- Which priorities occur in a lane and stage, and when each has its next future schedule time.
-- $1 lane  $2 stage. One row per priority, most urgent first: priority, next schedule time after
-- now in microseconds or null, time now. Reads one index entry or two per priority, however many
-- tasks wait.
WITH RECURSIVE known AS (
  SELECT least(
    (SELECT t.priority FROM skiplane.task t
     WHERE t.lane = $1::int8 AND t.stage = $2::int2 ORDER BY t.priority LIMIT 1),
    (SELECT p.priority FROM skiplane.task_pack p
     WHERE p.lane = $1::int8 AND p.priority >= -32768 AND $2::int2 = 0
     ORDER BY p.priority LIMIT 1)) AS priority
  UNION ALL
  SELECT least(
    (SELECT t.priority FROM skiplane.task t
     WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority > k.priority
     ORDER BY t.priority LIMIT 1),
    (SELECT p.priority FROM skiplane.task_pack p
     WHERE p.lane = $1::int8 AND p.priority > k.priority AND $2::int2 = 0
     ORDER BY p.priority LIMIT 1))
  FROM known k WHERE k.priority IS NOT NULL
)
SELECT k.priority,
       least(
         (SELECT (date_part('epoch', t.schedule_time) * 1e6)::int8 FROM skiplane.task t
          WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = k.priority
            AND t.schedule_time > now() AND t.schedule_time < 'infinity'
          ORDER BY t.schedule_time LIMIT 1),
         (SELECT (date_part('epoch', p.schedule_time) * 1e6)::int8 FROM skiplane.task_pack p
          WHERE p.lane = $1::int8 AND p.priority = k.priority AND $2::int2 = 0
            AND p.schedule_time > now()
          ORDER BY p.schedule_time LIMIT 1)),
       (date_part('epoch', now()) * 1e6)::int8
FROM known k WHERE k.priority IS NOT NULL
ORDER BY k.priority
