-- Removes the counters of due times at which nothing waits any more. $1 lane. No rows.
DELETE FROM skiplane.counter c
WHERE c.lane = $1::int8 AND c.due > 0 AND c.waiting = 0
