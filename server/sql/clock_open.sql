-- The step of the clock whose tasks are to be mended first. One row at most: the time before and
-- the time after it, in microseconds.
SELECT (date_part('epoch', c.was_at) * 1e6)::int8, (date_part('epoch', c.seen_at) * 1e6)::int8
FROM skiplane.clock_step c WHERE c.mended_at IS NULL ORDER BY c.was_at LIMIT 1
