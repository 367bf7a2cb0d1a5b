-- The exact counts of every lane in one snapshot: folded and not yet folded.
-- lanes: any because the sampler asks every few seconds, over tables that upkeep keeps small
-- One row per lane: lane, scheduled (due later than now), ready, leased, succeeded, failed.
SELECT a.lane,
       sum(a.waiting) FILTER (WHERE a.due > date_part('epoch', now()) / 10),
       sum(a.waiting) FILTER (WHERE a.due <= date_part('epoch', now()) / 10),
       sum(a.leased), sum(a.succeeded), sum(a.failed)
FROM (
  SELECT c.lane, c.due, c.waiting, c.leased, c.succeeded, c.failed FROM skiplane.counter c
  UNION ALL
  SELECT d.lane, d.due, d.waiting, d.leased, d.succeeded, d.failed FROM skiplane.counter_delta d
) a
GROUP BY a.lane
