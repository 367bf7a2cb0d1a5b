-- Claims a request id of an operator's change until the transaction ends. Waits for another
-- transaction that has it. $1 hash of the id  $2 hash of the body.
-- One row if it is the caller's; none if a change was made under it before.
INSERT INTO skiplane.admin_request (id, body_hash) VALUES ($1::bytea, $2::bytea)
ON CONFLICT (id) DO NOTHING
RETURNING true
