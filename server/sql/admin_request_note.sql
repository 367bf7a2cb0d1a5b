-- Notes the outcome of a change under its request id, for repeats. $1 hash of the id  $2 outcome.
-- No rows. Waits for nobody: the row is its transaction's, by admin_request_claim.
UPDATE skiplane.admin_request r SET outcome = $2::text WHERE r.id = $1::bytea
