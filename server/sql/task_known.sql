-- Which of some tasks live. $1 lane  $2 ids. One row per living task: id.
SELECT w.id
FROM unnest($2::int8[]) AS w(id)
CROSS JOIN LATERAL (
  SELECT 1 FROM skiplane.task t WHERE t.lane = $1::int8 AND t.id = w.id
  UNION ALL
  SELECT 1 FROM skiplane.packed($1::int8, w.id)
  OFFSET 0
) x
