-- Takes or keeps the lead of the chores. $1 broker id  $2 for how long, in microseconds.
-- One row if this broker leads now: how long ago the dead were last looked for, in microseconds
-- (null: never).
INSERT INTO skiplane.upkeep_lease AS u (name, holder, expires_at)
VALUES ('upkeep', $1::uuid, now() + $2::int8 * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE u.holder = excluded.holder OR u.expires_at < now()
RETURNING CASE WHEN u.reclaimed_at > '-infinity'
               THEN (date_part('epoch', now() - u.reclaimed_at) * 1e6)::int8 END
