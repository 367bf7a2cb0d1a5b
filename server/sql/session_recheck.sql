-- Reports to living workers that they lost leases: their heartbeats check leases up to these
-- numbers. Per session, each once: $1 ids  $2 lease numbers. $3 whether brokers are notified, which
-- tell all with a stream at once. One row each that says nothing.
-- locks: any because a worker must learn of a lost lease; in the order of heartbeats
WITH worker AS MATERIALIZED (
  SELECT x.id, w.lease_number
  FROM (
    SELECT u.id, u.lease_number
    FROM unnest($1::uuid[], $2::int8[]) AS u(id, lease_number)
    CROSS JOIN LATERAL (
      SELECT o.worker_id FROM skiplane.worker_session o WHERE o.id = u.id OFFSET 0
    ) k
    ORDER BY k.worker_id COLLATE "C", u.id
  ) w
  CROSS JOIN LATERAL (
    SELECT o.id FROM skiplane.worker_session o WHERE o.id = w.id AND o.state < 2 FOR UPDATE
  ) x
)
UPDATE skiplane.worker_session s SET recheck_until = greatest(s.recheck_until, t.lease_number)
FROM worker t WHERE s.id = ANY (ARRAY[t.id])
RETURNING CASE WHEN $3::bool THEN pg_notify('skiplane', 'workers -')::text END
