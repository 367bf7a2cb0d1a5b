-- The brokers that run, by name. $1 at most. One row each: id, name, version, started (null) and
-- expires in microseconds, whether it leads the chores.
SELECT b.id, b.name, b.version, (date_part('epoch', b.start_time) * 1e6)::int8,
       (date_part('epoch', b.expire_time) * 1e6)::int8,
       EXISTS (SELECT FROM skiplane.upkeep_lead u
               WHERE u.holder = b.id AND u.expire_time > now())
FROM skiplane.broker b WHERE b.expire_time > now()
ORDER BY b.name, b.id LIMIT $1::int4
