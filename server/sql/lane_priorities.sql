-- Which priorities occur in a lane and stage, and when each has its next future schedule time.
-- $1 lane  $2 stage. One row per priority, most urgent first: priority, next schedule time after
-- now in microseconds or null, time now. Reads one index entry or two per priority, however many
-- tasks wait.
WITH RECURSIVE known AS (
  (SELECT t.priority FROM skiplane.task t
   WHERE t.lane = $1::int8 AND t.stage = $2::int2 ORDER BY t.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT t.priority FROM skiplane.task t
          WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority > k.priority
          ORDER BY t.priority LIMIT 1)
  FROM known k WHERE k.priority IS NOT NULL
)
SELECT k.priority,
       (SELECT (date_part('epoch', t.schedule_time) * 1e6)::int8 FROM skiplane.task t
        WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = k.priority
          AND t.schedule_time > now() AND t.schedule_time < 'infinity'
        ORDER BY t.schedule_time LIMIT 1),
       (date_part('epoch', now()) * 1e6)::int8
FROM known k WHERE k.priority IS NOT NULL
ORDER BY k.priority
