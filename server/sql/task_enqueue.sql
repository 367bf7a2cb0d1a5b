-- Makes tasks that have neither a key nor a request id, of any lanes, all or none.
-- $1 lanes  $2 ids  $3 schedule times (null: by the delay)  $4 delays in microseconds  $5 max
-- attempts
-- $6 priorities  $7 content types  $8 headers as JSON  $9 payloads
-- One row per lane, priority and whether ready: how many, the least schedule time, and the time
-- now, in microseconds. A schedule time in the past becomes now, read while the row is written:
-- whoever sees the row after its commit finds it due.
WITH made AS (
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, due, max_attempts, priority, content_type, headers,
     payload)
  SELECT n.lane, n.id, n.schedule_time, n.create_time,
         CASE WHEN n.schedule_time > n.create_time
              THEN ceil(date_part('epoch', n.schedule_time) / 10)::int
              ELSE 0 END,
         n.max_attempts, n.priority, n.content_type, n.headers::jsonb, n.payload
  FROM (
    SELECT w.*, greatest(coalesce(w.start_at, w.create_time + w.delay * interval '1 microsecond'),
                         w.create_time) AS schedule_time
    FROM (
      SELECT u.*, clock_timestamp() AS create_time
      FROM unnest($1::int8[], $2::int8[], $3::timestamptz[], $4::int8[], $5::int4[], $6::int2[],
                  $7::text[], $8::text[], $9::bytea[])
        AS u(lane, id, start_at, delay, max_attempts, priority, content_type, headers, payload)
    ) w
  ) n
  RETURNING lane, priority, due, schedule_time
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
  SELECT m.lane, 0, m.due, count(*) FROM made m GROUP BY m.lane, m.due
)
SELECT m.lane, m.priority, m.due = 0, count(*),
       (date_part('epoch', min(m.schedule_time)) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8
FROM made m GROUP BY m.lane, m.priority, m.due = 0
