-- How many tasks will be leased before one that is ready, 10,001 at most.
-- $1 lane  $2 stage  $3 priority  $4 schedule time  $5 id. One row: how many.
WITH RECURSIVE known AS (
  (SELECT t.priority FROM skiplane.task t
   WHERE t.lane = $1::int8 AND t.stage = $2::int2 ORDER BY t.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT t.priority FROM skiplane.task t
          WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority > k.priority
          ORDER BY t.priority LIMIT 1)
  FROM known k WHERE k.priority < $3::int2
)
SELECT count(*) FROM (
  SELECT 1
  FROM known k
  CROSS JOIN LATERAL (
    SELECT 1 FROM skiplane.task t
    WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = k.priority
      AND t.schedule_time <= now() AND t.state = 1
      -- One comparison, which the index knows: the count ends at the task, not behind all others.
      AND (t.schedule_time, t.id) < (CASE WHEN k.priority < $3::int2 THEN 'infinity'
                                   ELSE $4::timestamptz END, $5::int8)
    ORDER BY t.schedule_time, t.id  -- so no other index will do
    LIMIT 10001
  ) x
  WHERE k.priority <= $3::int2
  LIMIT 10001
) a
