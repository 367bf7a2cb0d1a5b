-- Which change was made under a request id. $1 hash of the id.
-- One row if it is known: body hash, outcome.
SELECT r.body_hash, r.outcome FROM skiplane.admin_request r WHERE r.id = $1::bytea
