-- Makes the first key for lease tokens, if there is none. Its secret is drawn in the database, so
-- that no log of statements shows it. No row.
INSERT INTO skiplane.token_key (id, secret, use_time)
SELECT 1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), now()
WHERE NOT EXISTS (SELECT FROM skiplane.token_key)
ON CONFLICT DO NOTHING
