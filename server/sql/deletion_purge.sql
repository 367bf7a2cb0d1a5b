-- Removes rows of a lane whose queue is removed. $1 lane  $2 about how many  $3 id after which to
-- look for tasks. One row: how many tasks and how many rows are gone, the last task's id.
SELECT p.tasks, p.removed, p.last_id FROM skiplane.purge_lane($1::int8, $2::int4, $3::int8) p
