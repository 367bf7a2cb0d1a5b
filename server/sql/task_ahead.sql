-- How many tasks will be leased before one that is ready, 10,001 at most.
-- $1 lane  $2 stage  $3 priority  $4 schedule time  $5 id. One row: how many.
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
  UNION ALL
  SELECT 1
  FROM known k
  CROSS JOIN LATERAL (
    SELECT 1
    FROM (
      SELECT o.id, o.task_count, o.gone, o.schedule_time FROM skiplane.task_pack o
      WHERE o.lane = $1::int8 AND o.priority = k.priority AND $2::int2 = 0
        AND o.schedule_time <= now() AND o.state = 1
        AND (o.schedule_time, o.id) < (CASE WHEN k.priority < $3::int2 THEN 'infinity'
                                     ELSE $4::timestamptz END, $5::int8)
      ORDER BY o.schedule_time, o.id
    ) p
    CROSS JOIN LATERAL generate_series(0, p.task_count - 1) AS i
    WHERE (p.gone >> i) & 1 = 0
      AND (p.id + i < $5::int8 OR k.priority < $3::int2 OR p.schedule_time < $4::timestamptz)
    LIMIT 10001
  ) x
  WHERE k.priority <= $3::int2
  LIMIT 10001
) a
