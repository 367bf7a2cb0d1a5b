-- Looks through the last attempts of finished tasks of a lane in the order of their ids, or from
-- the newest one back. Parameters and rows as in task_filter; $6 is the sum of 1 succeeded, 2
-- cancelled; headers and errors are not known of such tasks, payloads where the queue keeps them,
-- and none is periodic any more.
WITH slice AS MATERIALIZED (
  SELECT a.*, CASE WHEN $11::bool THEN -a.id ELSE a.id END AS place
  FROM (
    SELECT h.task_id AS id, h.stage, h.outcome, h.ends_task, h.key, h.create_time, h.priority,
           h.attempt,
           (($7::text[])[5] IS NULL OR
            position(convert_to(($7::text[])[5], 'UTF8') IN substring(h.payload FROM 1 FOR 65536))
              > 0) AS has_text
    FROM (
      (SELECT o.* FROM skiplane.history o
       WHERE o.lane = $1::int8 AND o.task_id > $2::int8 AND NOT $11::bool
         AND cardinality($10::int8[]) = 0
       ORDER BY o.task_id LIMIT $3::int4)
      UNION ALL
      (SELECT o.* FROM skiplane.history o
       WHERE o.lane = $1::int8 AND o.task_id < $2::int8 AND $11::bool
         AND cardinality($10::int8[]) = 0
       ORDER BY o.task_id DESC LIMIT $3::int4)
      UNION ALL
      SELECT n.*
      FROM unnest($10::int8[]) AS w(id)
      CROSS JOIN LATERAL (
        SELECT o.* FROM skiplane.history o WHERE o.lane = $1::int8 AND o.task_id = w.id
        ORDER BY o.end_time DESC LIMIT 1
      ) n
      WHERE CASE WHEN $11::bool THEN w.id < $2::int8 ELSE w.id > $2::int8 END
    ) h
    UNION ALL
    -- Those of one pack, 64 at most, come in any order: all but these are complete.
    (SELECT p.id + i, 0, 1, true, NULL, p.create_time, p.priority, 1,
            ($7::text[])[5] IS NULL
     FROM (
       (SELECT o.* FROM skiplane.pack_history o
        WHERE o.lane = $1::int8 AND o.id > $2::int8 - 64 AND NOT $11::bool
          AND cardinality($10::int8[]) = 0
        ORDER BY o.id)
       UNION ALL
       (SELECT o.* FROM skiplane.pack_history o
        WHERE o.lane = $1::int8 AND o.id < $2::int8 AND $11::bool AND cardinality($10::int8[]) = 0
        ORDER BY o.id DESC)
       UNION ALL
       SELECT n.*
       FROM (SELECT DISTINCT w.id - b AS id FROM unnest($10::int8[]) AS w(id)
             CROSS JOIN LATERAL generate_series(0, 63) AS b) q
       CROSS JOIN LATERAL (
         SELECT o.* FROM skiplane.pack_history o
         WHERE o.lane = $1::int8 AND o.id = q.id LIMIT 64
       ) n
     ) p
     CROSS JOIN LATERAL unnest(p.masks) AS m(mask)
     CROSS JOIN LATERAL skiplane.positions(m.mask) AS i
     WHERE CASE WHEN $11::bool THEN p.id + i < $2::int8 ELSE p.id + i > $2::int8 END
       AND (p.id + i = ANY ($10::int8[]) OR cardinality($10::int8[]) = 0)
     LIMIT $3::int4 + 64)
  ) a
  ORDER BY CASE WHEN $11::bool THEN -a.id ELSE a.id END LIMIT $3::int4
), edge AS MATERIALIZED (
  -- The attempts of a task may go on behind the slice: its last one is left to the next slice.
  SELECT max(s.place) AS place FROM slice s
  HAVING count(*) >= $3::int4 AND min(s.place) < max(s.place)
), alone AS MATERIALIZED (
  -- One task fills the slice: the newest of its attempts says what became of it.
  SELECT h.task_id AS id, h.stage, h.outcome, h.ends_task, h.key, h.create_time, h.priority,
         h.attempt,
         (($7::text[])[5] IS NULL OR
          position(convert_to(($7::text[])[5], 'UTF8') IN substring(h.payload FROM 1 FOR 65536))
            > 0),
         CASE WHEN $11::bool THEN -h.task_id ELSE h.task_id END
  FROM skiplane.history h
  WHERE h.lane = $1::int8
    AND h.task_id = (SELECT max(s.id) FROM slice s
                     HAVING count(*) >= $3::int4 AND min(s.place) = max(s.place))
  ORDER BY h.end_time DESC LIMIT 1
), match AS MATERIALIZED (
  SELECT DISTINCT s.id, s.place FROM (SELECT * FROM slice UNION ALL SELECT * FROM alone) s
  WHERE s.place < coalesce((SELECT e.place FROM edge e), 9223372036854775807)
    AND s.ends_task AND $6::int4 & CASE s.outcome WHEN 1 THEN 1 WHEN 5 THEN 2 ELSE 0 END > 0
    AND coalesce(s.stage = ($5::int2[])[1], true)
    AND (starts_with(s.key, ($7::text[])[1]) OR ($7::text[])[1] IS NULL)
    AND ($7::text[])[2] IS NULL AND ($7::text[])[3] IS NULL AND ($7::text[])[4] IS NULL
    AND coalesce(s.has_text, false)
    AND coalesce(s.create_time <= now() - ($8::int8[])[1] * interval '1 microsecond', true)
    AND coalesce(s.create_time >= now() - ($8::int8[])[2] * interval '1 microsecond', true)
    AND coalesce(s.attempt >= ($8::int8[])[3], true)
    AND coalesce((date_part('epoch', s.create_time) * 1e6)::int8 >= ($8::int8[])[4], true)
    AND coalesce((date_part('epoch', s.create_time) * 1e6)::int8 < ($8::int8[])[5], true)
    AND coalesce(s.priority = ($9::int2[])[1], true) AND coalesce(($9::int2[])[2] = 0, true)
  ORDER BY s.place LIMIT $4::int4
), page AS MATERIALIZED (
  SELECT max(m.place) AS last FROM match m HAVING count(*) >= $4::int4
)
-- What comes after the last match of a full page is looked at, and counted, with the next one.
SELECT count(*) FILTER (WHERE s.place <= coalesce((SELECT p.last FROM page p), s.place)),
       abs(coalesce((SELECT p.last FROM page p),
                    CASE WHEN count(*) >= $3::int4
                         THEN coalesce((SELECT e.place - 1 FROM edge e), max(s.place)) END))
FROM slice s
UNION ALL
SELECT NULL, m.id FROM match m
