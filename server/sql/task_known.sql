-- Which of some tasks live. $1 lane  $2 ids. One row per living task: id.
SELECT t.id
FROM unnest($2::int8[]) AS w(id)
JOIN skiplane.task t ON t.lane = $1::int8 AND t.id = w.id
