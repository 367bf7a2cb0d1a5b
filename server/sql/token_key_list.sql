-- The keys for lease tokens. One row each: id, secret, whether its time to sign has come.
SELECT k.id, k.secret, k.use_time <= now() FROM skiplane.token_key k
