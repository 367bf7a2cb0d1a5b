-- Which queue a lane belongs to. $1 lane.
-- One row: its name. No row: no queue has this lane.
SELECT q.name
FROM skiplane.queue_lane l JOIN skiplane.queue q ON q.id = l.queue_id
WHERE l.lane = $1::int8
