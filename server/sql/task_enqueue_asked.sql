-- Makes tasks that have no key, of calls with a request id or without, of any lanes, all or none.
-- What is known already is left out.
-- $1-$9 as in task_enqueue  $10 the first id of the task's call if that has a request id, else 0;
-- then one element per call with a request id, ordered by lane and id: $11 heads  $12 hashes
-- $13 body hashes, as in answered_request  $14 first ids  $15 lanes  $16 request ids
-- Rows as of task_enqueue; and one per call whose request id is known, with its first id as the
-- lane and nothing else. Behind the time now all have when the transaction began, in microseconds.
-- A concurrent call with the same request id is waited for, not overtaken.
-- lanes: any because each request id brings the lane in which a broker before 0.2 wrote it
WITH asked AS (
  INSERT INTO skiplane.answered_request (head, first_id, body_hash, create_time, hash)
  SELECT r.head, r.first_id, r.body_hash, now(), r.hash
  FROM unnest($11::int8[], $12::uuid[], $13::int8[], $14::int8[], $15::int8[], $16::text[])
    AS r(head, hash, body_hash, first_id, lane, request_id)
  WHERE NOT EXISTS (SELECT FROM skiplane.enqueue_request o
                    WHERE o.lane = r.lane AND o.request_id = r.request_id OFFSET 0)
  ON CONFLICT (head, hash) DO NOTHING
  RETURNING first_id
), made AS (
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
                  $7::text[], $8::text[], $9::bytea[], $10::int8[])
        AS u(lane, id, start_at, delay, max_attempts, priority, content_type, headers, payload,
             call)
      WHERE u.call = 0 OR u.call IN (SELECT a.first_id FROM asked a)
    ) w
  ) n
  RETURNING lane, priority, due, schedule_time
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
  SELECT m.lane, 0, m.due, count(*) FROM made m GROUP BY m.lane, m.due
)
SELECT m.lane, m.priority, m.due = 0, count(*),
       (date_part('epoch', min(m.schedule_time)) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8
FROM made m GROUP BY m.lane, m.priority, m.due = 0
UNION ALL
SELECT r.first_id, NULL, NULL, NULL, NULL, (date_part('epoch', clock_timestamp()) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8
FROM unnest($14::int8[]) AS r(first_id) WHERE r.first_id NOT IN (SELECT a.first_id FROM asked a)
