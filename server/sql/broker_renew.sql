-- Says that a broker runs for the next $3 microseconds. $1 id  $2 name.
-- One row: how many other brokers run.
WITH renewed AS (
  INSERT INTO skiplane.broker AS b (id, name, expire_time)
  VALUES ($1::uuid, $2::text, now() + $3::int8 * interval '1 microsecond')
  ON CONFLICT (id) DO UPDATE SET expire_time = excluded.expire_time
)
SELECT count(*) FROM skiplane.broker o WHERE o.id <> $1::uuid AND o.expire_time > now()
