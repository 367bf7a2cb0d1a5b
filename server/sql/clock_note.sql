-- Notes that the clock went back since lost sessions were last looked for. $1 broker id  $2 by how
-- much at least, in microseconds  $3 how long ago this broker did that last, by another clock, in
-- microseconds: if another one did, it may have been just now.
-- One row if that is so, this broker leads, and nobody has noted it: the time that it would be, in
-- microseconds, and the time now.
-- locks: any because there is one row, which only brokers change that lead or want to
WITH last AS MATERIALIZED (
  SELECT u.name, u.reclaim_time, u.reclaimed_by FROM skiplane.upkeep_lead u
  WHERE u.name = 'upkeep' AND u.holder = $1::uuid
    AND u.reclaim_time > now() + $2::int8 * interval '1 microsecond'
  FOR UPDATE
), noted AS (
  UPDATE skiplane.upkeep_lead u SET reclaim_time = now(), reclaimed_by = NULL
  FROM last l WHERE u.name = l.name
)
INSERT INTO skiplane.clock_step (old_time, seen_time)
SELECT l.reclaim_time + CASE WHEN l.reclaimed_by = $1::uuid
                             THEN $3::int8 * interval '1 microsecond' ELSE interval '0' END,
       now()
FROM last l
ON CONFLICT (old_time) DO NOTHING
RETURNING (date_part('epoch', old_time) * 1e6)::int8, (date_part('epoch', seen_time) * 1e6)::int8
