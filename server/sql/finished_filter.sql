-- Looks through the last attempts of finished tasks of a lane in the order of their ids. Parameters
-- and rows as in task_filter; $6 is the sum of 1 succeeded, 2 cancelled; headers and errors are
-- not known of such tasks.
WITH slice AS MATERIALIZED (
  SELECT h.task_id AS id, h.stage, h.outcome, h.is_last, h.key, h.created_at, h.priority
  FROM skiplane.history h
  WHERE h.lane = $1::int8 AND h.task_id > $2::int8
  ORDER BY h.task_id LIMIT $3::int4
), match AS MATERIALIZED (
  SELECT DISTINCT s.id FROM slice s
  WHERE s.is_last AND $6::int4 & CASE s.outcome WHEN 1 THEN 1 WHEN 5 THEN 2 ELSE 0 END > 0
    AND coalesce(s.stage = ($5::int2[])[1], true)
    AND (starts_with(s.key, ($7::text[])[1]) OR ($7::text[])[1] IS NULL)
    AND ($7::text[])[2] IS NULL AND ($7::text[])[3] IS NULL AND NOT $10::bool
    AND coalesce(s.created_at <= now() - ($8::int8[])[1] * interval '1 microsecond', true)
    AND coalesce(s.created_at >= now() - ($8::int8[])[2] * interval '1 microsecond', true)
    AND coalesce(s.priority = ($9::int2[])[1], true)
  ORDER BY s.id LIMIT $4::int4
)
SELECT count(*), CASE WHEN (SELECT count(*) FROM match m) >= $4::int4
                        THEN (SELECT max(m.id) FROM match m)
                      WHEN count(*) >= $3::int4 THEN max(s.id) END
FROM slice s
UNION ALL
SELECT NULL, m.id FROM match m
