-- What some sessions hold in a lane, as its ledger tells. $1 lane  $2 sessions  $3 leases at most
-- One row per lease: task, lease number, session, attempt.
SELECT e.task, e.lease_number, e.session, x.attempt
FROM skiplane.lease_ledger l
CROSS JOIN LATERAL unnest(l.sessions, l.tasks, l.lease_numbers)
  AS e(session, task, lease_number)
CROSS JOIN LATERAL (
  SELECT o.attempt FROM skiplane.task o
  WHERE o.lane = $1::int8 AND o.id = e.task AND o.lease_number = e.lease_number AND o.state = 2
  UNION ALL
  SELECT p.attempt FROM skiplane.packed($1::int8, e.task) p
  WHERE p.lease_number = e.lease_number AND p.state = 2
  OFFSET 0
) x
WHERE l.lane = $1::int8
  AND CASE WHEN cardinality($2::uuid[]) <= 20 THEN l.sessions && $2::uuid[] ELSE true END
  AND (e.session IN (SELECT u.id FROM unnest($2::uuid[]) AS u(id))) IS TRUE
LIMIT $3::int4
