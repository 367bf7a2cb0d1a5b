-- Takes or keeps the lead of the chores. $1 broker id  $2 for how long, in microseconds.
-- One row if this broker leads now: how long ago lost sessions were last looked for, in
-- microseconds (null: never; negative: the clock went back since).
INSERT INTO skiplane.upkeep_lease AS u (name, holder, expires_at)
VALUES ('upkeep', $1::uuid, now() + $2::int8 * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE u.holder = excluded.holder OR u.expires_at < now()
   OR u.expires_at > excluded.expires_at + interval '10 seconds'  -- the clock went back
RETURNING CASE WHEN u.reclaimed_at > '-infinity'
               THEN (date_part('epoch', now() - u.reclaimed_at) * 1e6)::int8 END
