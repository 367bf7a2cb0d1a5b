-- Which of some tasks live. $1 lane  $2 ids. One row per living task: id.
SELECT t.id FROM skiplane.task t WHERE t.lane = $1::int8 AND t.id = ANY ($2::int8[])
