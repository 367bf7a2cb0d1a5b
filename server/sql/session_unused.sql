-- Forgets sessions of single calls that hold nothing any more: nothing is leased for them again, as
-- a call leases within 60 seconds after it has made its session, or not at all.
-- $1 the id after which to look  $2 how many to look at.
-- One row: how many were looked at, the last one's id (null: none), how many were forgotten.
-- lanes: any because upkeep asks now and then, over a small table
-- By a hash of the sessions: it takes 100 ns for each lease.
WITH page AS MATERIALIZED (
  SELECT s.id FROM skiplane.worker_session s
  WHERE s.worker_id IS NULL AND s.state = 1 AND s.id > $1::uuid
    AND s.expire_time - s.lease_duration < now() - interval '3 minutes'
  ORDER BY s.id LIMIT $2::int4
), idle AS MATERIALIZED (
  SELECT p.id FROM page p
  EXCEPT
  SELECT e.session FROM skiplane.lease_ledger l CROSS JOIN LATERAL unnest(l.sessions) AS e(session)
  WHERE (e.session IN (SELECT p.id FROM page p)) IS TRUE
), forgotten AS (
  DELETE FROM skiplane.worker_session s
  WHERE s.id = ANY (ARRAY(
    SELECT o.id FROM skiplane.worker_session o
    WHERE o.id = ANY (ARRAY(SELECT i.id FROM idle i)) AND o.state = 1
    ORDER BY o.id FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT (SELECT count(*) FROM page), (SELECT p.id FROM page p ORDER BY p.id DESC LIMIT 1),
       (SELECT count(*) FROM forgotten)
