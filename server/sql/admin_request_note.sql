-- Notes the outcome of a change under its request id, for repeats. $1 hash of the id  $2 outcome.
-- No rows. It does not wait: its transaction has locked the row, by admin_request_claim.
UPDATE skiplane.admin_request r SET outcome = $2::text WHERE r.id = $1::bytea
