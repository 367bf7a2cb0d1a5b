-- Whether lanes hold tasks, unfinished or failed. $1 lanes. One row.
-- lanes: any because it is about all lanes of a queue
SELECT EXISTS (SELECT FROM skiplane.task t WHERE t.lane = ANY ($1::int8[]))
       OR EXISTS (SELECT FROM skiplane.task_pack p WHERE p.lane = ANY ($1::int8[]))
       OR EXISTS (SELECT FROM skiplane.task_failed f WHERE f.lane = ANY ($1::int8[]))
