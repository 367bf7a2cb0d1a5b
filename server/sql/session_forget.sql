-- Forgets lost sessions that no ledger row names any more. $1 ids. One row each: id. One that
-- somebody else has at hand is left.
DELETE FROM skiplane.worker_session s
WHERE s.state = 2 AND s.id = ANY (ARRAY(
  SELECT o.id FROM skiplane.worker_session o
  WHERE o.id = ANY ($1::uuid[]) AND o.state = 2 FOR UPDATE SKIP LOCKED))
RETURNING s.id
