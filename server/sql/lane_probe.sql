-- Reads ready tasks of one slice of a lane's order, without locks. A pack is one row of the slice.
-- $1 lane  $2 stage  $3 priority  $4, $5 the key (schedule time, id) after which to look  $6 rows
-- at most
-- One row: how many rows were looked at, how many ready tasks they have; then, in microseconds and
-- ids, the key of the first row with a ready one (null: none) and the key of the last one looked at
-- (null: none); how long the first ready one has been due, in microseconds; and whether packs have
-- ready ones.
WITH slice AS MATERIALIZED (
  SELECT a.*
  FROM (
    (SELECT t.schedule_time, t.id, CASE WHEN t.state = 1 THEN 1 ELSE 0 END AS ready,
            false AS is_pack
     FROM skiplane.task t
     WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = $3::int2
       AND t.schedule_time <= now()
       AND (t.schedule_time, t.id) > ($4::timestamptz, $5::int8)
     ORDER BY t.schedule_time, t.id LIMIT $6::int4)
    UNION ALL
    (SELECT p.schedule_time, p.id,
            CASE WHEN p.state = 1
                 THEN bit_count((skiplane.first_positions(p.task_count) & ~p.gone)::bit(64))
                 ELSE 0 END,
            true
     FROM skiplane.task_pack p
     WHERE p.lane = $1::int8 AND p.priority = $3::int2 AND $2::int2 = 0
       AND p.schedule_time <= now()
       AND (p.schedule_time, p.id) > ($4::timestamptz, $5::int8)
     ORDER BY p.schedule_time, p.id LIMIT $6::int4)
  ) a
  ORDER BY a.schedule_time, a.id LIMIT $6::int4
), ready AS (
  SELECT s.schedule_time, s.id FROM slice s WHERE s.ready > 0 ORDER BY s.schedule_time, s.id LIMIT 1
), last AS (
  SELECT s.schedule_time, s.id FROM slice s ORDER BY s.schedule_time DESC, s.id DESC LIMIT 1
)
SELECT (SELECT count(*) FROM slice s), (SELECT coalesce(sum(s.ready), 0) FROM slice s),
       (SELECT (date_part('epoch', f.schedule_time) * 1e6)::int8 FROM ready f),
       (SELECT f.id FROM ready f),
       (SELECT (date_part('epoch', l.schedule_time) * 1e6)::int8 FROM last l),
       (SELECT l.id FROM last l),
       (SELECT (date_part('epoch', now() - f.schedule_time) * 1e6)::int8 FROM ready f),
       EXISTS (SELECT FROM slice s WHERE s.is_pack AND s.ready > 0)
