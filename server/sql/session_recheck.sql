-- Reports to living workers that they lost leases: their heartbeats check leases up to these
-- numbers. Per session, each once: $1 ids  $2 lease numbers. $3 whether brokers are notified, which
-- tell all with a stream at once. One row each that says nothing.
-- locks: any because a worker must learn of a lost lease; in the order of heartbeats
WITH worker AS MATERIALIZED (
  SELECT o.id, w.lease_number
  FROM unnest($1::uuid[], $2::int8[]) AS w(id, lease_number)
  JOIN skiplane.worker_session o ON o.id = w.id
  WHERE o.state = 1
  ORDER BY o.worker_id COLLATE "C", o.id
  FOR UPDATE OF o
)
UPDATE skiplane.worker_session s SET recheck_until = greatest(s.recheck_until, t.lease_number)
FROM worker t WHERE s.id = t.id
RETURNING CASE WHEN $3::bool THEN pg_notify('skiplane', 'workers -')::text END
