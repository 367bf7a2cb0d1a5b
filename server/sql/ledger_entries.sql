-- Leases that are to be taken back: those of some sessions, and those that run too long.
-- $1 lane  $2 sessions  $3 stages, $4 how long an attempt may run there in microseconds  $5 the
-- least of these (0: nobody asks for it)  $6 ledger rows at most  $7 leases that they name before
-- the last of them, at most
-- One row per ledger row that names one of the sessions: its id; and one per lease: ledger row,
-- task, lease number, session, attempt, bytes of the payload, whether it is packed. Ordered by
-- task.
-- Many sessions are found by a hash (ledger_lanes).
WITH named AS MATERIALIZED (
  SELECT q.id, q.sessions, q.tasks, q.lease_numbers, q.is_lost
  FROM (
    SELECT r.id, r.sessions, r.tasks, r.lease_numbers, r.is_lost,
           sum(cardinality(r.tasks)) OVER (ORDER BY r.id) - cardinality(r.tasks) AS leases_before
    FROM (
      SELECT l.id, l.sessions, l.tasks, l.lease_numbers,
             CASE WHEN cardinality($2::uuid[]) <= 20 THEN l.sessions && $2::uuid[]
                  ELSE EXISTS (
                    SELECT FROM unnest(l.sessions) AS s(id)
                    WHERE (s.id IN (SELECT u.id FROM unnest($2::uuid[]) AS u(id))) IS TRUE)
             END AS is_lost
      FROM skiplane.lease_ledger l WHERE l.lane = $1::int8 ORDER BY l.id OFFSET 0
    ) r
    WHERE r.is_lost
       -- A lease number is the time of its lease, or a little more.
       OR ($5::int8 > 0 AND EXISTS (
         SELECT 1 FROM unnest(r.lease_numbers) AS n(no)
         WHERE n.no < (date_part('epoch', now()) * 1e6)::int8 - $5::int8))
    ORDER BY r.id LIMIT $6::int4
  ) q
  WHERE q.leases_before <= $7::int8
)
SELECT n.id, NULL::int8 AS task, NULL::int8, NULL::uuid, NULL::int4, NULL::int4, NULL::bool
FROM named n WHERE n.is_lost
UNION ALL
SELECT n.id, e.task, e.lease_number, e.session, x.attempt, x.bytes, x.is_packed
FROM named n
CROSS JOIN LATERAL unnest(n.sessions, n.tasks, n.lease_numbers) AS e(session, task, lease_number)
CROSS JOIN LATERAL (
  SELECT o.attempt, o.stage, o.lease_time, octet_length(o.payload) AS bytes, false AS is_packed
  FROM skiplane.task o
  WHERE o.lane = $1::int8 AND o.id = e.task AND o.lease_number = e.lease_number AND o.state = 2
  UNION ALL
  SELECT p.attempt, p.stage, p.lease_time, octet_length(p.payload), true
  FROM skiplane.packed($1::int8, e.task) p
  WHERE p.lease_number = e.lease_number AND p.state = 2
  OFFSET 0
) x
WHERE (e.session IN (SELECT u.id FROM unnest($2::uuid[]) AS u(id))) IS TRUE
   OR x.lease_time < now() - ($4::int8[])[array_position($3::int2[], x.stage)]
                            * interval '1 microsecond'
ORDER BY 2
