-- Looks through the last attempts of finished tasks of a lane in the order of their ids. Parameters
-- and rows as in task_filter; $6 is the sum of 1 succeeded, 2 cancelled; headers and errors are
-- not known of such tasks, and none is periodic any more.
WITH slice AS MATERIALIZED (
  SELECT a.*
  FROM (
    (SELECT h.task_id AS id, h.stage, h.outcome, h.ends_task, h.key, h.create_time, h.priority
     FROM skiplane.history h
     WHERE h.lane = $1::int8 AND h.task_id > $2::int8
     ORDER BY h.task_id LIMIT $3::int4)
    UNION ALL
    -- Those of one pack, 64 at most, come in any order: all but these are complete.
    (SELECT p.id + i, 0, 1, true, NULL, p.create_time, p.priority
     FROM (
       SELECT o.id, o.masks, o.create_time, o.priority FROM skiplane.pack_history o
       WHERE o.lane = $1::int8 AND o.id > $2::int8 - 64 ORDER BY o.id
     ) p
     CROSS JOIN LATERAL unnest(p.masks) AS m(mask)
     CROSS JOIN LATERAL skiplane.positions(m.mask) AS i
     WHERE p.id + i > $2::int8
     LIMIT $3::int4 + 64)
  ) a
  ORDER BY a.id LIMIT $3::int4
), edge AS MATERIALIZED (
  -- The attempts of a task may go on behind the slice: its last one is left to the next slice.
  SELECT max(s.id) AS id FROM slice s HAVING count(*) >= $3::int4 AND min(s.id) < max(s.id)
), alone AS MATERIALIZED (
  -- One task fills the slice: the newest of its attempts says what became of it.
  SELECT h.task_id AS id, h.stage, h.outcome, h.ends_task, h.key, h.create_time, h.priority
  FROM skiplane.history h
  WHERE h.lane = $1::int8
    AND h.task_id = (SELECT max(s.id) FROM slice s
                     HAVING count(*) >= $3::int4 AND min(s.id) = max(s.id))
  ORDER BY h.end_time DESC LIMIT 1
), match AS MATERIALIZED (
  SELECT DISTINCT s.id FROM (SELECT * FROM slice UNION ALL SELECT * FROM alone) s
  WHERE s.id < coalesce((SELECT e.id FROM edge e), 9223372036854775807)
    AND s.ends_task AND $6::int4 & CASE s.outcome WHEN 1 THEN 1 WHEN 5 THEN 2 ELSE 0 END > 0
    AND coalesce(s.stage = ($5::int2[])[1], true)
    AND (starts_with(s.key, ($7::text[])[1]) OR ($7::text[])[1] IS NULL)
    AND ($7::text[])[2] IS NULL AND ($7::text[])[3] IS NULL
    AND coalesce(s.create_time <= now() - ($8::int8[])[1] * interval '1 microsecond', true)
    AND coalesce(s.create_time >= now() - ($8::int8[])[2] * interval '1 microsecond', true)
    AND coalesce(s.priority = ($9::int2[])[1], true) AND coalesce(($9::int2[])[2] = 0, true)
  ORDER BY s.id LIMIT $4::int4
), page AS MATERIALIZED (
  SELECT max(m.id) AS last FROM match m HAVING count(*) >= $4::int4
)
-- What comes after the last match of a full page is looked at, and counted, with the next one.
SELECT count(*) FILTER (WHERE s.id <= coalesce((SELECT p.last FROM page p), s.id)),
       coalesce((SELECT p.last FROM page p),
                CASE WHEN count(*) >= $3::int4
                     THEN coalesce((SELECT e.id - 1 FROM edge e), max(s.id)) END)
FROM slice s
UNION ALL
SELECT NULL, m.id FROM match m
