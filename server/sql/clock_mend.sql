-- Makes tasks due again that were due before the clock went back. $1 lane  $2 stage  $3 priority
-- $4 the time before the step  $5 the time after it  $6 rows at most.
-- One row: how many tasks were found, and the time at which they are due now, in microseconds.
-- Left alone: what was written since the step was noted, such as retries; and periodic tasks that
-- wait for a planned time, none of which comes twice.
WITH late AS MATERIALIZED (
  SELECT t.ctid AS row_location, t.due
  FROM skiplane.task t
  WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = $3::int2
    AND t.schedule_time > now() AND t.schedule_time <= $4::timestamptz + interval '1 minute'
    AND t.state = 1
    -- Made to run at once, perhaps while nobody looked at the clock.
    AND (t.schedule_time <= $4::timestamptz OR t.schedule_time <= t.create_time)
    AND age(t.xmin) > age((SELECT c.noted_by::xid FROM skiplane.clock_step c
                           WHERE c.old_time = $4::timestamptz))
    AND t.planned_time IS DISTINCT FROM t.schedule_time
  ORDER BY t.schedule_time, t.id LIMIT $6::int4
  FOR UPDATE SKIP LOCKED
), mended AS (
  -- All at the same time: then they are leased in the order of their ids.
  UPDATE skiplane.task t SET schedule_time = least(now(), $5::timestamptz), due = 0
  FROM late l
  WHERE t.lane = $1::int8 AND t.ctid = l.row_location AND t.state = 1
  RETURNING l.due AS old_due
), late_pack AS MATERIALIZED (
  SELECT p.ctid AS row_location,
         bit_count((skiplane.first_positions(p.task_count) & ~p.gone)::bit(64)) AS tasks
  FROM skiplane.task_pack p
  WHERE p.lane = $1::int8 AND p.priority = $3::int2 AND $2::int2 = 0
    -- All of a pack was ready when it was made.
    AND p.schedule_time > now() AND p.schedule_time <= $4::timestamptz + interval '1 minute'
    AND p.state = 1
  ORDER BY p.schedule_time, p.id LIMIT $6::int4
  FOR UPDATE SKIP LOCKED
), mended_pack AS (
  UPDATE skiplane.task_pack p SET schedule_time = least(now(), $5::timestamptz)
  FROM late_pack l
  WHERE p.lane = $1::int8 AND p.ctid = l.row_location AND p.state = 1
  RETURNING l.tasks
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
  SELECT $1::int8, $2::int2, c.due, sum(c.waiting)
  FROM (
    SELECT 0 AS due, 1 AS waiting FROM mended m WHERE m.old_due <> 0
    UNION ALL
    SELECT m.old_due, -1 FROM mended m WHERE m.old_due <> 0
  ) c
  GROUP BY c.due
)
SELECT (SELECT count(*) FROM mended) + (SELECT coalesce(sum(m.tasks), 0) FROM mended_pack m),
       (date_part('epoch', least(now(), $5::timestamptz)) * 1e6)::int8
