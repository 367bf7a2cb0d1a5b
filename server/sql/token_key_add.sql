-- Makes the next key for lease tokens, if the newest one is old. $1 at what age  $2 when the new
-- one begins to sign, from now on; both in microseconds. No row.
INSERT INTO skiplane.token_key (id, secret, use_time)
SELECT max(k.id) + 1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
       now() + $2::int8 * interval '1 microsecond'
FROM skiplane.token_key k
HAVING max(k.use_time) < now() - $1::int8 * interval '1 microsecond'
ON CONFLICT DO NOTHING
