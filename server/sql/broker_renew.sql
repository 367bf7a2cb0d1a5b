-- Says that a broker runs for the next $3 microseconds. $1 id  $2 name  $4 version
-- $5 deletions of queues that it confirms.
-- One row: how many other brokers run, and whether all of them read packs. One that fell silent in
-- the last hour counts for the latter: it may be frozen, and would go on beside packs.
WITH renewed AS (
  INSERT INTO skiplane.broker AS b (id, name, expire_time, reads_packs, version, confirmed)
  VALUES ($1::uuid, $2::text, now() + $3::int8 * interval '1 microsecond', true, $4::text,
          $5::uuid[])
  ON CONFLICT (id) DO UPDATE SET expire_time = excluded.expire_time, reads_packs = true,
    confirmed = excluded.confirmed
)
SELECT count(*) FILTER (WHERE o.expire_time > now()), coalesce(bool_and(o.reads_packs), true)
FROM skiplane.broker o WHERE o.id <> $1::uuid AND o.expire_time > now() - interval '1 hour'
