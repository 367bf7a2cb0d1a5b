-- Notes what an operator changed. $1 actor  $2 method name  $3 queue  $4 request as JSON  $5 how
-- many  $6 caller  $7 claimed actor
-- No rows.
INSERT INTO skiplane.audit (actor, method_name, queue, request, changed, caller, claimed_actor)
VALUES ($1::text, $2::text, $3::text, $4::text::jsonb, $5::int8, $6::text, $7::text)
