-- Makes tasks of which some have a key or belong to a call with a request id, all or none. What is
-- known already is left out, and the answer lacks its row.
-- $1-$9 as in task_enqueue  $10 keys (null: none)  $11 the first id of the task's call if that has
-- a request id, else 0; then one element per call with a request id, ordered by lane and id:
-- $12 lanes  $13 request ids  $14 body hashes  $15 first ids
-- One row per task that was made: id, lane, priority, "can run now", run time and time now in
-- microseconds. A concurrent call with the same key or request id is waited for, not overtaken.
WITH asked AS (
  INSERT INTO skiplane.request (lane, request_id, body_hash, first_id, created_at)
  SELECT r.lane, r.request_id, r.body_hash, r.first_id, now()
  FROM unnest($12::int8[], $13::text[], $14::bytea[], $15::int8[])
    AS r(lane, request_id, body_hash, first_id)
  ON CONFLICT (lane, request_id) DO NOTHING
  RETURNING first_id
), want AS MATERIALIZED (
  SELECT u.*, clock_timestamp() AS created_at
  FROM unnest($1::int8[], $2::int8[], $3::timestamptz[], $4::int8[], $5::int4[], $6::int2[],
              $7::text[], $8::text[], $9::bytea[], $10::text[], $11::int8[])
    AS u(lane, id, start_at, delay, max_attempts, priority, content_type, headers, payload, key,
         call)
  WHERE u.call = 0 OR u.call IN (SELECT a.first_id FROM asked a)
), held AS (
  INSERT INTO skiplane.task_key (lane, key, task_id)
  SELECT w.lane, w.key, w.id FROM want w WHERE w.key IS NOT NULL ORDER BY w.lane, w.key, w.id
  ON CONFLICT (lane, key) DO NOTHING
  RETURNING task_id
), made AS (
  INSERT INTO skiplane.task
    (lane, id, run_at, created_at, due, max_attempts, priority, content_type, headers, payload, key)
  SELECT n.lane, n.id, n.run_at, n.created_at,
         CASE WHEN n.run_at > n.created_at THEN ceil(date_part('epoch', n.run_at) / 10)::int
              ELSE 0 END,
         n.max_attempts, n.priority, n.content_type, n.headers::jsonb, n.payload, n.key
  FROM (
    SELECT w.*, greatest(coalesce(w.start_at, w.created_at + w.delay * interval '1 microsecond'),
                         w.created_at) AS run_at
    FROM want w
    WHERE w.key IS NULL OR w.id IN (SELECT h.task_id FROM held h)
  ) n
  RETURNING id, lane, priority, due, run_at
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
  SELECT m.lane, 0, m.due, count(*) FROM made m GROUP BY m.lane, m.due
)
SELECT m.id, m.lane, m.priority, m.due = 0, (date_part('epoch', m.run_at) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8
FROM made m
