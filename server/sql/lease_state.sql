-- Which leases of living sessions are still held. Per lease: $1 lanes  $2 task ids  $3 lease
-- numbers  $4 sessions.
-- One row per lease that is still held: its number in the arrays (from 1), whether its worker shall
-- stop.
-- lanes: any because a heartbeat names leases of all lanes, and only one after a lost lease asks
SELECT w.n, coalesce(t.cancel_requested, false)
FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::uuid[]) WITH ORDINALITY
  AS w(lane, id, lease_number, session, n)
CROSS JOIN LATERAL (
  SELECT o.cancel_requested FROM skiplane.task o
  WHERE o.lane = w.lane AND o.id = w.id AND o.lease_number = w.lease_number
    AND o.session = w.session
    AND o.state = 2
  UNION ALL
  SELECT NULL FROM skiplane.packed(w.lane, w.id) p
  WHERE p.lease_number = w.lease_number AND p.session = w.session AND p.state = 2
  OFFSET 0
) t
