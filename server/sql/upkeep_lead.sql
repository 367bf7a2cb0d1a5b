-- Takes or keeps the lead of the chores. $1 broker id  $2 for how long, in microseconds.
-- One row if this broker leads now: how long ago lost sessions were last looked for, in
-- microseconds (null: never; negative: the clock went back since).
INSERT INTO skiplane.upkeep_lead AS u (name, holder, expire_time)
VALUES ('upkeep', $1::uuid, now() + $2::int8 * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expire_time = excluded.expire_time
WHERE u.holder = excluded.holder OR u.expire_time < now()
   OR u.expire_time > excluded.expire_time + interval '10 seconds'  -- the clock went back
RETURNING CASE WHEN u.reclaim_time > '-infinity'
               THEN (date_part('epoch', now() - u.reclaim_time) * 1e6)::int8 END
