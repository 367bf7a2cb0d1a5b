-- Which lanes hold leases of some sessions. $1 sessions. One row per lane and session.
-- lanes: any because upkeep asks once per pass where lost workers held something, over a small
-- table
SELECT DISTINCT l.lane, e.session
FROM skiplane.lease_ledger l CROSS JOIN LATERAL unnest(l.sessions) AS e(session)
WHERE l.sessions && $1::uuid[] AND e.session = ANY ($1::uuid[])
