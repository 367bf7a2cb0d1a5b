-- The last step back of the clock that a schedule time still feels. $1 the schedule time. One row
-- at most: the time before it and the time after it, in microseconds; whether it is mended.
SELECT (date_part('epoch', c.was_at) * 1e6)::int8, (date_part('epoch', c.seen_at) * 1e6)::int8,
       c.mended_at IS NOT NULL
FROM skiplane.clock_step c
WHERE $1::timestamptz > now() AND c.was_at > now() AND c.seen_at <= now()
ORDER BY c.seen_at DESC LIMIT 1
