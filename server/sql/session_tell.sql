-- Tells living workers that leases of theirs were taken back: their beats look at leases up to
-- these numbers. Per session, each once: $1 ids  $2 lease numbers. No row.
-- locks: any because a worker that is not told works on in vain; in the order of beats
WITH told AS MATERIALIZED (
  SELECT o.id, w.lease_no
  FROM unnest($1::uuid[], $2::int8[]) AS w(id, lease_no)
  JOIN skiplane.worker_session o ON o.id = w.id
  WHERE o.state = 1
  ORDER BY o.worker_id COLLATE "C", o.id
  FOR UPDATE OF o
)
UPDATE skiplane.worker_session s SET recheck_until = greatest(s.recheck_until, t.lease_no)
FROM told t WHERE s.id = t.id
