-- The exact counts of some lanes in one snapshot, as counter_read has those of all. $1 lanes
-- lanes: any because an operator asks for the queues of a page
SELECT a.lane, a.stage,
       sum(a.waiting) FILTER (WHERE a.due > date_part('epoch', now()) / 10),
       sum(a.waiting) FILTER (WHERE a.due <= date_part('epoch', now()) / 10),
       sum(a.leased), sum(a.succeeded), sum(a.failed), sum(a.cancelled), sum(a.moved)
FROM (
  SELECT c.lane, c.stage, c.due, c.waiting, c.leased, c.succeeded, c.failed, c.cancelled, c.moved
  FROM skiplane.counter c WHERE c.lane = ANY ($1::int8[])
  UNION ALL
  SELECT d.lane, d.stage, d.due, d.waiting, d.leased, d.succeeded, d.failed, d.cancelled, d.moved
  FROM skiplane.counter_delta d WHERE d.lane = ANY ($1::int8[])
) a
GROUP BY a.lane, a.stage
