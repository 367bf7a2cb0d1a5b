-- Looks through failed tasks of a lane in the order of their ids, or from the newest one back.
-- Parameters and rows as in task_filter; $6 is ignored, and no such task is periodic.
WITH slice AS MATERIALIZED (
  SELECT a.*, CASE WHEN $11::bool THEN -a.id ELSE a.id END AS place
  FROM (
    SELECT f.id, f.stage, f.key, f.headers, f.error_type, f.error_fingerprint, f.create_time,
           f.priority, f.attempt,
           (($7::text[])[5] IS NULL OR
            position(convert_to(($7::text[])[5], 'UTF8') IN substring(f.payload FROM 1 FOR 65536))
              > 0) AS has_text
    FROM (
      (SELECT o.* FROM skiplane.task_failed o
       WHERE o.lane = $1::int8 AND o.id > $2::int8 AND o.expire_time > now() AND NOT $11::bool
         AND cardinality($10::int8[]) = 0
       ORDER BY o.id LIMIT $3::int4)
      UNION ALL
      (SELECT o.* FROM skiplane.task_failed o
       WHERE o.lane = $1::int8 AND o.id < $2::int8 AND o.expire_time > now() AND $11::bool
         AND cardinality($10::int8[]) = 0
       ORDER BY o.id DESC LIMIT $3::int4)
      UNION ALL
      SELECT n.*
      FROM unnest($10::int8[]) AS w(id)
      CROSS JOIN LATERAL (
        SELECT o.* FROM skiplane.task_failed o
        WHERE o.lane = $1::int8 AND o.id = w.id AND o.expire_time > now() LIMIT 1
      ) n
      WHERE CASE WHEN $11::bool THEN w.id < $2::int8 ELSE w.id > $2::int8 END
    ) f
  ) a
  ORDER BY CASE WHEN $11::bool THEN -a.id ELSE a.id END LIMIT $3::int4
), match AS MATERIALIZED (
  SELECT DISTINCT s.id, s.place FROM slice s
  WHERE coalesce(s.stage = ($5::int2[])[1], true) AND $6::int4 >= 0
    AND (starts_with(s.key, ($7::text[])[1]) OR ($7::text[])[1] IS NULL)
    AND (s.headers @> (($7::text[])[2])::jsonb OR ($7::text[])[2] IS NULL)
    AND (s.error_fingerprint = ($7::text[])[3] OR ($7::text[])[3] IS NULL)
    AND (s.error_type = ($7::text[])[4] OR ($7::text[])[4] IS NULL) AND s.has_text
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
                    CASE WHEN count(*) >= $3::int4 THEN max(s.place) END))
FROM slice s
UNION ALL
SELECT NULL, m.id FROM match m
