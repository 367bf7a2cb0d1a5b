-- Looks through living tasks of a lane in the order of their ids.
-- $1 lane  $2 id after which to look  $3 rows to look at  $4 matches to return; the filter:
-- $5 stage  $6 states: sum of 1 ready, 2 scheduled, 4 leased  $7 key prefix, headers that must be
-- among the task's as JSON, fingerprint  $8 least and greatest age in microseconds  $9 priority, 1
-- for periodic ones or 0 for others. All but $6 are arrays, in which null stands for "any".
-- One row with how many were looked at, and the last one's id (null: the lane is at its end); then
-- one per match: null, id.
WITH slice AS MATERIALIZED (
  SELECT a.*
  FROM (
    (SELECT t.id, t.stage, t.state, t.schedule_time, t.key, t.headers, t.error_fingerprint,
            t.create_time, t.priority, t.planned_time
     FROM skiplane.task t
     WHERE t.lane = $1::int8 AND t.id > $2::int8
     ORDER BY t.id LIMIT $3::int4)
    UNION ALL
    (SELECT p.id + i, 0, p.state, p.schedule_time, NULL, p.headers[i + 1], NULL, p.create_time,
            p.priority, NULL
     FROM (
       SELECT o.id, o.state, o.task_count, o.gone, o.schedule_time, o.headers, o.create_time,
              o.priority
       FROM skiplane.task_pack o
       WHERE o.lane = $1::int8 AND o.id > $2::int8 - 64 ORDER BY o.id
     ) p
     CROSS JOIN LATERAL generate_series(0, p.task_count - 1) AS i
     WHERE (p.gone >> i) & 1 = 0 AND p.id + i > $2::int8
     LIMIT $3::int4)
  ) a
  ORDER BY a.id LIMIT $3::int4
), match AS MATERIALIZED (
  SELECT s.id FROM slice s
  WHERE coalesce(s.stage = ($5::int2[])[1], true)
    AND $6::int4 & CASE WHEN s.state = 2 THEN 4 WHEN s.schedule_time > now() THEN 2 ELSE 1 END > 0
    AND (starts_with(s.key, ($7::text[])[1]) OR ($7::text[])[1] IS NULL)
    AND (s.headers @> (($7::text[])[2])::jsonb OR ($7::text[])[2] IS NULL)
    AND (s.error_fingerprint = ($7::text[])[3] OR ($7::text[])[3] IS NULL)
    AND coalesce(s.create_time <= now() - ($8::int8[])[1] * interval '1 microsecond', true)
    AND coalesce(s.create_time >= now() - ($8::int8[])[2] * interval '1 microsecond', true)
    AND coalesce(s.priority = ($9::int2[])[1], true)
    AND coalesce((s.planned_time IS NOT NULL)::int = ($9::int2[])[2], true)
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
