-- Leases that are to be taken back: those of some sessions, and those that run too long.
-- $1 lane  $2 sessions  $3 stages, $4 how long an attempt may run there in microseconds  $5 the
-- least of these (0: nobody asks for it)  $6 the ledger row behind which to look  $7 ledger rows at
-- most  $8 no further row once those before it name more leases that may have to be taken back
-- One row per ledger row that was looked at: its id, and whether it names one of the sessions; and
-- one per lease: ledger row, the same, task, lease number, session, attempt, bytes of the payload,
-- whether it is packed. Ordered by task.
-- Many sessions are found by a hash (ledger_lanes).
WITH named AS MATERIALIZED (
  SELECT q.*
  FROM (
    SELECT r.id, r.sessions, r.tasks, r.lease_numbers, x.lost > 0 AS is_lost,
           sum(x.lost + x.old) OVER (ORDER BY r.id) - x.lost - x.old AS leases_before
    FROM (
      SELECT l.id, l.sessions, l.tasks, l.lease_numbers FROM skiplane.lease_ledger l
      WHERE l.lane = $1::int8 AND l.id > $6::uuid
        AND (CASE WHEN cardinality($2::uuid[]) <= 20 THEN l.sessions && $2::uuid[]
                  ELSE EXISTS (
                    SELECT FROM unnest(l.sessions) AS s(id)
                    WHERE (s.id IN (SELECT u.id FROM unnest($2::uuid[]) AS u(id))) IS TRUE)
             END
             -- A lease number is the time of its lease, or a little more.
             OR $5::int8 > 0 AND EXISTS (
               SELECT FROM unnest(l.lease_numbers) AS n(no)
               WHERE n.no < (date_part('epoch', now()) * 1e6)::int8 - $5::int8))
      ORDER BY l.id LIMIT $7::int4
    ) r
    CROSS JOIN LATERAL (
      SELECT (SELECT count(*) FROM unnest(r.sessions) AS s(id)
              WHERE (s.id IN (SELECT u.id FROM unnest($2::uuid[]) AS u(id))) IS TRUE) AS lost,
             (SELECT count(*) FROM unnest(r.lease_numbers) AS n(no)
              WHERE $5::int8 > 0
                AND n.no < (date_part('epoch', now()) * 1e6)::int8 - $5::int8) AS old
      OFFSET 0
    ) x
  ) q
  WHERE q.leases_before <= $8::int8
)
SELECT n.id, n.is_lost, NULL::int8 AS task, NULL::int8, NULL::uuid, NULL::int4, NULL::int4,
       NULL::bool
FROM named n
UNION ALL
SELECT e.ledger, e.is_lost, e.task, e.lease_number, e.session, x.attempt, x.bytes, x.is_packed
FROM (
  SELECT n.id AS ledger, n.is_lost, u.session, u.task, u.lease_number,
         (u.session IN (SELECT g.id FROM unnest($2::uuid[]) AS g(id))) IS TRUE AS is_theirs
  FROM named n
  CROSS JOIN LATERAL unnest(n.sessions, n.tasks, n.lease_numbers)
    AS u(session, task, lease_number)
  OFFSET 0
) e
CROSS JOIN LATERAL (
  SELECT o.attempt, o.stage, o.lease_time, octet_length(o.payload) AS bytes, false AS is_packed
  FROM skiplane.task o
  WHERE o.lane = $1::int8 AND o.id = e.task AND o.lease_number = e.lease_number AND o.state = 2
  UNION ALL
  SELECT p.attempt, p.stage, p.lease_time, 0, true  -- a pack has 64 KiB at most
  FROM skiplane.packed($1::int8, e.task) p
  WHERE p.lease_number = e.lease_number AND p.state = 2
  OFFSET 0
) x
WHERE (e.is_theirs
       OR $5::int8 > 0 AND e.lease_number < (date_part('epoch', now()) * 1e6)::int8 - $5::int8)
  AND (e.is_theirs
       OR x.lease_time < now() - ($4::int8[])[array_position($3::int2[], x.stage)]
                                * interval '1 microsecond')
ORDER BY 3
