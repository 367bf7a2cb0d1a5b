-- How many tasks of a queue are not finished. $1 its lanes. One row.
-- lanes: any because the limit is that of all lanes of the queue
SELECT coalesce(sum(a.waiting + a.leased), 0)::int8
FROM (
  SELECT c.waiting, c.leased FROM skiplane.counter c WHERE c.lane = ANY ($1::int8[])
  UNION ALL
  SELECT d.waiting, d.leased FROM skiplane.counter_delta d WHERE d.lane = ANY ($1::int8[])
) a
