-- How many failed tasks of each lane are kept: folded and not yet folded.
-- lanes: any because the sampler asks for all lanes at once, seldom, over a row per group of errors
-- One row per lane that has some: lane, tasks.
SELECT a.lane, sum(a.failed)::int8
FROM (
  SELECT g.lane, g.failed FROM skiplane.error_group g
  UNION ALL
  SELECT d.lane, d.failed FROM skiplane.error_delta d
) a
GROUP BY a.lane HAVING sum(a.failed) > 0
