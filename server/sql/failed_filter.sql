-- Looks through failed tasks of a lane in the order of their ids. Parameters and rows as in
-- task_filter; $6 is ignored, and no such task is periodic.
WITH slice AS MATERIALIZED (
  SELECT f.id, f.stage, f.key, f.headers, f.error_fingerprint, f.create_time, f.priority
  FROM skiplane.task_failed f
  WHERE f.lane = $1::int8 AND f.id > $2::int8 AND f.expire_time > now()
  ORDER BY f.id LIMIT $3::int4
), match AS MATERIALIZED (
  SELECT DISTINCT s.id FROM slice s
  WHERE coalesce(s.stage = ($5::int2[])[1], true) AND $6::int4 >= 0
    AND (starts_with(s.key, ($7::text[])[1]) OR ($7::text[])[1] IS NULL)
    AND (s.headers @> (($7::text[])[2])::jsonb OR ($7::text[])[2] IS NULL)
    AND (s.error_fingerprint = ($7::text[])[3] OR ($7::text[])[3] IS NULL)
    AND coalesce(s.create_time <= now() - ($8::int8[])[1] * interval '1 microsecond', true)
    AND coalesce(s.create_time >= now() - ($8::int8[])[2] * interval '1 microsecond', true)
    AND coalesce(s.priority = ($9::int2[])[1], true) AND coalesce(($9::int2[])[2] = 0, true)
  ORDER BY s.id LIMIT $4::int4
), page AS MATERIALIZED (
  SELECT max(m.id) AS last FROM match m HAVING count(*) >= $4::int4
)
-- What comes after the last match of a full page is looked at, and counted, with the next one.
SELECT count(*) FILTER (WHERE s.id <= coalesce((SELECT p.last FROM page p), s.id)),
       coalesce((SELECT p.last FROM page p), CASE WHEN count(*) >= $3::int4 THEN max(s.id) END)
FROM slice s
UNION ALL
SELECT NULL, m.id FROM match m
