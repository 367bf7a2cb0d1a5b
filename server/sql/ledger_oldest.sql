-- How long ago the oldest lease of each lane that is in the ledger was made, in microseconds.
-- One row per lane. A lease number is the time of its lease, or a little more.
-- lanes: any because upkeep asks once per pass over a small table
SELECT l.lane, (date_part('epoch', now()) * 1e6)::int8 - min(n.no)
FROM skiplane.lease_ledger l CROSS JOIN LATERAL unnest(l.lease_numbers) AS n(no)
GROUP BY l.lane
