-- The exact counts of every lane and stage in one snapshot: folded and not yet folded.
-- lanes: any because the sampler asks every few seconds, over tables that upkeep keeps small
-- One row each: lane, stage, scheduled (due later than now), ready, leased, succeeded, failed,
-- cancelled, moved.
SELECT a.lane, a.stage,
       sum(a.waiting) FILTER (WHERE a.due > date_part('epoch', now()) / 10),
       sum(a.waiting) FILTER (WHERE a.due <= date_part('epoch', now()) / 10),
       sum(a.leased), sum(a.succeeded), sum(a.failed), sum(a.cancelled), sum(a.moved)
FROM (
  SELECT c.lane, c.stage, c.due, c.waiting, c.leased, c.succeeded, c.failed, c.cancelled, c.moved
  FROM skiplane.counter c
  UNION ALL
  SELECT d.lane, d.stage, d.due, d.waiting, d.leased, d.succeeded, d.failed, d.cancelled, d.moved
  FROM skiplane.counter_delta d
) a
GROUP BY a.lane, a.stage
