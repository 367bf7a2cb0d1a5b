-- Which lanes hold leases of some sessions. $1 sessions. One row per lane and session.
-- lanes: any because upkeep asks once per pass where lost workers held something, over a small
-- table
-- Few are compared with all that a row names at once, many by a hash: the one costs 8 ns for each
-- pair, the other 100 ns for each lease.
SELECT DISTINCT l.lane, e.session
FROM skiplane.lease_ledger l CROSS JOIN LATERAL unnest(l.sessions) AS e(session)
WHERE CASE WHEN cardinality($1::uuid[]) <= 20 THEN l.sessions && $1::uuid[] ELSE true END
  AND (e.session IN (SELECT u.id FROM unnest($1::uuid[]) AS u(id))) IS TRUE
