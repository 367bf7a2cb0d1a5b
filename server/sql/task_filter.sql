-- Looks through living tasks of a lane in the order of their ids, or from the newest one back.
-- $1 lane  $2 id behind which to look  $3 rows to look at  $4 matches to return; the filter:
-- $5 stage  $6 states: sum of 1 ready, 2 scheduled, 4 leased  $7 key prefix, headers that must be
-- among the task's as JSON, fingerprint and type of its error, what the first 64 KiB of the payload
-- must hold  $8 least and greatest age in microseconds, least number of attempts, creation from
-- and before in microseconds  $9 priority, 1 for periodic ones or 0 for others  $10 only these ids
-- (empty: any)  $11 whether from the newest. $5 and $7 to $9 are arrays, in which null and what is
-- missing stand for "any".
-- One row with how many were looked at, and the last one's id (null: the lane is at its end); then
-- one per match: null, id.
WITH slice AS MATERIALIZED (
  SELECT a.*, CASE WHEN $11::bool THEN -a.id ELSE a.id END AS place
  FROM (
    SELECT t.id, t.stage, t.state, t.schedule_time, t.key, t.headers, t.error_type,
           t.error_fingerprint, t.create_time, t.priority, t.attempt, t.planned_time,
           (($7::text[])[5] IS NULL OR
            position(convert_to(($7::text[])[5], 'UTF8') IN substring(t.payload FROM 1 FOR 65536))
              > 0) AS has_text
    FROM (
      (SELECT o.* FROM skiplane.task o
       WHERE o.lane = $1::int8 AND o.id > $2::int8 AND NOT $11::bool
         AND cardinality($10::int8[]) = 0
       ORDER BY o.id LIMIT $3::int4)
      UNION ALL
      (SELECT o.* FROM skiplane.task o
       WHERE o.lane = $1::int8 AND o.id < $2::int8 AND $11::bool AND cardinality($10::int8[]) = 0
       ORDER BY o.id DESC LIMIT $3::int4)
      UNION ALL
      SELECT f.*
      FROM unnest($10::int8[]) AS w(id)
      CROSS JOIN LATERAL (
        SELECT o.* FROM skiplane.task o WHERE o.lane = $1::int8 AND o.id = w.id LIMIT 1
      ) f
      WHERE CASE WHEN $11::bool THEN w.id < $2::int8 ELSE w.id > $2::int8 END
    ) t
    UNION ALL
    -- Those of one pack, 64 at most, come in any order: all but these are complete.
    (SELECT p.id + i, 0, p.state, p.schedule_time, NULL, p.headers[i + 1], NULL, NULL,
            p.create_time, p.priority, p.state - 1, NULL,
            (($7::text[])[5] IS NULL OR
             position(convert_to(($7::text[])[5], 'UTF8')
                      IN substring(p.payloads[i + 1] FROM 1 FOR 65536)) > 0)
     FROM (
       (SELECT o.* FROM skiplane.task_pack o
        WHERE o.lane = $1::int8 AND o.id > $2::int8 - 64 AND NOT $11::bool
          AND cardinality($10::int8[]) = 0
        ORDER BY o.id)
       UNION ALL
       (SELECT o.* FROM skiplane.task_pack o
        WHERE o.lane = $1::int8 AND o.id < $2::int8 AND $11::bool AND cardinality($10::int8[]) = 0
        ORDER BY o.id DESC)
       UNION ALL
       (SELECT DISTINCT ON (f.id) f.*
        FROM unnest($10::int8[]) AS w(id)
        CROSS JOIN LATERAL (
          SELECT o.* FROM skiplane.task_pack o
          WHERE o.lane = $1::int8 AND o.id <= w.id AND o.id > w.id - 64
          ORDER BY o.id DESC LIMIT 1
        ) f
        ORDER BY f.id)
     ) p
     CROSS JOIN LATERAL generate_series(0, p.task_count - 1) AS i
     WHERE (p.gone >> i) & 1 = 0
       AND CASE WHEN $11::bool THEN p.id + i < $2::int8 ELSE p.id + i > $2::int8 END
       AND (p.id + i = ANY ($10::int8[]) OR cardinality($10::int8[]) = 0)
     LIMIT $3::int4 + 64)
  ) a
  ORDER BY CASE WHEN $11::bool THEN -a.id ELSE a.id END LIMIT $3::int4
), match AS MATERIALIZED (
  SELECT s.id, s.place FROM slice s
  WHERE coalesce(s.stage = ($5::int2[])[1], true)
    AND $6::int4 & CASE WHEN s.state = 2 THEN 4 WHEN s.schedule_time > now() THEN 2 ELSE 1 END > 0
    AND (starts_with(s.key, ($7::text[])[1]) OR ($7::text[])[1] IS NULL)
    AND (s.headers @> (($7::text[])[2])::jsonb OR ($7::text[])[2] IS NULL)
    AND (s.error_fingerprint = ($7::text[])[3] OR ($7::text[])[3] IS NULL)
    AND (s.error_type = ($7::text[])[4] OR ($7::text[])[4] IS NULL) AND s.has_text
    AND coalesce(s.create_time <= now() - ($8::int8[])[1] * interval '1 microsecond', true)
    AND coalesce(s.create_time >= now() - ($8::int8[])[2] * interval '1 microsecond', true)
    AND coalesce(s.attempt >= ($8::int8[])[3], true)
    AND coalesce((date_part('epoch', s.create_time) * 1e6)::int8 >= ($8::int8[])[4], true)
    AND coalesce((date_part('epoch', s.create_time) * 1e6)::int8 < ($8::int8[])[5], true)
    AND coalesce(s.priority = ($9::int2[])[1], true)
    AND coalesce((s.planned_time IS NOT NULL)::int = ($9::int2[])[2], true)
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
