-- The step of the clock whose tasks are to be mended first. One row at most: the time before and
-- the time after it, in microseconds.
SELECT (date_part('epoch', c.old_time) * 1e6)::int8, (date_part('epoch', c.seen_time) * 1e6)::int8
FROM skiplane.clock_step c WHERE c.mend_time IS NULL ORDER BY c.old_time LIMIT 1
