-- Forgets lost sessions that no ledger row names any more. $1 ids. One row each: id.
DELETE FROM skiplane.worker_session s WHERE s.id = ANY ($1::uuid[]) AND s.state = 2 RETURNING s.id
