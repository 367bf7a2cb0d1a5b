-- Reads ready tasks of one slice of a lane's order, without locks.
-- $1 lane  $2 stage  $3 priority  $4, $5 the key (schedule time, id) after which to look  $6 rows
-- at most
-- One row: how many were looked at, how many of them were ready; then, in microseconds and ids, the
-- key of the first ready one (null: none) and the key of the last one looked at (null: none); and
-- how long the first ready one has been due, in microseconds.
WITH slice AS MATERIALIZED (
  SELECT t.schedule_time, t.id, t.state
  FROM skiplane.task t
  WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = $3::int2
    AND t.schedule_time <= now()
    AND (t.schedule_time, t.id) > ($4::timestamptz, $5::int8)
  ORDER BY t.schedule_time, t.id LIMIT $6::int4
), ready AS (
  SELECT s.schedule_time, s.id FROM slice s WHERE s.state = 1 ORDER BY s.schedule_time, s.id LIMIT 1
), last AS (
  SELECT s.schedule_time, s.id FROM slice s ORDER BY s.schedule_time DESC, s.id DESC LIMIT 1
)
SELECT (SELECT count(*) FROM slice s), (SELECT count(*) FROM slice s WHERE s.state = 1),
       (SELECT (date_part('epoch', f.schedule_time) * 1e6)::int8 FROM ready f),
       (SELECT f.id FROM ready f),
       (SELECT (date_part('epoch', l.schedule_time) * 1e6)::int8 FROM last l),
       (SELECT l.id FROM last l),
       (SELECT (date_part('epoch', now() - f.schedule_time) * 1e6)::int8 FROM ready f)
