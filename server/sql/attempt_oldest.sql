-- How long the oldest attempt of each lane runs, as far as its hundred oldest leases in the ledger
-- tell. One row per lane with such an attempt: lane, age in microseconds.
-- lanes: any because the sampler asks for all lanes at once, seldom, over a small table
SELECT e.lane, (date_part('epoch', now()) * 1e6)::int8 - min(e.lease_number)
FROM (
  SELECT b.lane, n.task, n.lease_number,
         row_number() OVER (PARTITION BY b.lane ORDER BY n.lease_number) AS age_rank
  FROM skiplane.lease_ledger b
  CROSS JOIN LATERAL unnest(b.tasks, b.lease_numbers) AS n(task, lease_number)
  OFFSET 0
) e
CROSS JOIN LATERAL (
  -- Of what was settled, the ledger may know for a while.
  SELECT 1 FROM skiplane.task t
  WHERE t.lane = e.lane AND t.id = e.task AND t.lease_number = e.lease_number AND t.state = 2
  UNION ALL
  SELECT 1 FROM skiplane.packed(e.lane, e.task) p
  WHERE p.lease_number = e.lease_number AND p.state = 2
  OFFSET 0
) held
WHERE e.age_rank <= 100
GROUP BY e.lane
