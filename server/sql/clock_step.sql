-- The last step back of the clock that a schedule time still feels. $1 the schedule time. One row
-- at most: the time before it and the time after it, in microseconds; whether it is mended.
SELECT (date_part('epoch', c.old_time) * 1e6)::int8, (date_part('epoch', c.seen_time) * 1e6)::int8,
       c.mend_time IS NOT NULL
FROM skiplane.clock_step c
WHERE $1::timestamptz > now() AND c.old_time > now() AND c.seen_time <= now()
ORDER BY c.seen_time DESC LIMIT 1
