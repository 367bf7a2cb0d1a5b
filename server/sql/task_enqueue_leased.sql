-- As task_enqueue_asked, and leases some of the tasks to workers that wait as it makes them.
-- $1-$16 as in task_enqueue_asked  $17 per task who leases it (from 1; 0: nobody); then for each of
-- those who lease: $18 session  $19 ledger row, the same without a request id  $20 request id or
-- null. An error 23505: something is leased under one of these request ids, or a ledger row was
-- closed.
-- A task whose session does not live is made as if nobody leased it. Leased ones are to be ready
-- now: they have neither a schedule time nor a delay.
-- Rows as of task_enqueue_asked, of tasks that are not leased; and one per leased task: its lane,
-- nothing, nothing, its id, its schedule time, and in the last column where it is. Its lease number
-- is when the transaction began, as of any lease: so what was leased for a worker before its hello
-- is told from what was leased after it, however long the transaction waits (session_leases).
-- lanes: any because each request id brings the lane in which a broker before 0.2 wrote it
WITH living AS MATERIALIZED (
  SELECT array_agg(s.id ORDER BY c.number) AS sessions
  FROM unnest($18::uuid[]) WITH ORDINALITY AS c(session, number)
  LEFT JOIN LATERAL (
    SELECT x.id FROM skiplane.worker_session x
    WHERE x.id = c.session AND x.state < 2 AND x.expire_time > now() OFFSET 0
  ) s ON true
), asked AS (
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
    (lane, id, schedule_time, create_time, lease_number, lease_time, session, due, attempt,
     max_attempts, priority, state, content_type, headers, payload)
  SELECT n.lane, n.id, n.schedule_time, n.create_time,
         CASE WHEN n.session IS NULL THEN 0
              ELSE (date_part('epoch', now()) * 1e6)::int8 END,
         CASE WHEN n.session IS NOT NULL THEN n.schedule_time END, n.session,
         CASE WHEN n.schedule_time > n.create_time
              THEN ceil(date_part('epoch', n.schedule_time) / 10)::int
              ELSE 0 END,
         CASE WHEN n.session IS NULL THEN 0 ELSE 1 END, n.max_attempts, n.priority,
         CASE WHEN n.session IS NULL THEN 1 ELSE 2 END, n.content_type, n.headers::jsonb, n.payload
  FROM (
    SELECT w.*, greatest(coalesce(w.start_at, w.create_time + w.delay * interval '1 microsecond'),
                         w.create_time) AS schedule_time
    FROM (
      SELECT u.*, clock_timestamp() AS create_time,
             (SELECT l.sessions FROM living l)[u.caller] AS session
      FROM unnest($1::int8[], $2::int8[], $3::timestamptz[], $4::int8[], $5::int4[], $6::int2[],
                  $7::text[], $8::text[], $9::bytea[], $10::int8[], $17::int4[])
        AS u(lane, id, start_at, delay, max_attempts, priority, content_type, headers, payload,
             call, caller)
      WHERE u.call = 0 OR u.call IN (SELECT a.first_id FROM asked a)
    ) w
  ) n
  RETURNING lane, id, priority, due, schedule_time, state, session, lease_number,
            ctid AS row_location
), ledger AS (
  INSERT INTO skiplane.lease_ledger (lane, id, request_id, sessions, tasks, lease_numbers,
                                     check_time)
  SELECT e.lane, e.ledger, min(e.request_id), array_agg(e.session), array_agg(e.id),
         array_agg(e.lease_number), now() + interval '30 seconds'
  FROM (
    SELECT m.lane, m.session, m.id, m.lease_number, ($19::uuid[])[t.caller] AS ledger,
           ($20::text[])[t.caller] AS request_id
    FROM unnest($2::int8[], $17::int4[]) AS t(id, caller)
    JOIN made m ON m.id = t.id
    WHERE t.caller > 0 AND m.state = 2
  ) e
  GROUP BY e.lane, e.ledger ORDER BY min(e.request_id)  -- one that is taken is waited for
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, leased)
  SELECT m.lane, 0, m.due, count(*) FILTER (WHERE m.state = 1),
         count(*) FILTER (WHERE m.state = 2)
  FROM made m GROUP BY m.lane, m.due
)
SELECT m.lane, m.priority, m.due = 0, count(*),
       (date_part('epoch', min(m.schedule_time)) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8, NULL::tid
FROM made m WHERE m.state = 1 GROUP BY m.lane, m.priority, m.due = 0
UNION ALL
SELECT m.lane, NULL, NULL, m.id, (date_part('epoch', m.schedule_time) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8, m.row_location
FROM made m WHERE m.state = 2
UNION ALL
SELECT r.first_id, NULL, NULL, NULL, NULL, (date_part('epoch', clock_timestamp()) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8, NULL
FROM unnest($14::int8[]) AS r(first_id) WHERE r.first_id NOT IN (SELECT a.first_id FROM asked a)
