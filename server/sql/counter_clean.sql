-- Removes the counters of due times at which nothing waits any more. $1 lane. No rows.
DELETE FROM skiplane.counter c
WHERE c.lane = $1::int8 AND c.waiting = 0 AND c.ctid = ANY (ARRAY(
  SELECT o.ctid FROM skiplane.counter o
  WHERE o.lane = $1::int8 AND o.due > 0 AND o.waiting = 0 FOR UPDATE SKIP LOCKED))
