-- Notes that the clock went back since lost sessions were last looked for. $1 broker id  $2 by how
-- much at least, in microseconds  $3 how long ago this broker did that last, by another clock, in
-- microseconds: if another one did, it may have been just now.
-- One row if that is so, this broker leads, and nobody has noted it: the time that it would be, in
-- microseconds, and the time now.
-- locks: any because there is one row, which only brokers change that lead or want to
WITH last AS MATERIALIZED (
  SELECT u.name, u.reclaimed_at, u.reclaimed_by FROM skiplane.upkeep_lease u
  WHERE u.name = 'upkeep' AND u.holder = $1::uuid
    AND u.reclaimed_at > now() + $2::int8 * interval '1 microsecond'
  FOR UPDATE
), noted AS (
  UPDATE skiplane.upkeep_lease u SET reclaimed_at = now(), reclaimed_by = NULL
  FROM last l WHERE u.name = l.name
)
INSERT INTO skiplane.clock_step (was_at, seen_at)
SELECT l.reclaimed_at + CASE WHEN l.reclaimed_by = $1::uuid
                             THEN $3::int8 * interval '1 microsecond' ELSE interval '0' END,
       now()
FROM last l
ON CONFLICT (was_at) DO NOTHING
RETURNING (date_part('epoch', was_at) * 1e6)::int8, (date_part('epoch', seen_at) * 1e6)::int8
