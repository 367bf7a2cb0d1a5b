-- Makes tasks in packs, of calls with request ids or without. Per task: $1 content types
-- $2 headers as JSON  $3 payloads  $4 the first id of its call if that has a request id, else 0.
-- Per pack: $5 lanes  $6 ids of the first tasks  $7 how many tasks  $8 priorities  $9 max attempts
-- $10 where its tasks begin in the arrays (from 1)  $11 bytes. $12 whether any task has a content
-- type or headers. $13-$18 the request ids, as $11-$16 of task_enqueue_asked.
-- Rows as of task_enqueue_asked. All tasks are ready at once. Those of a request id that is known
-- are not made: their positions are gone from the beginning, and a pack ends before them, so that
-- one whose last task is leased has none that waits.
-- lanes: any because each request id brings the lane in which a broker before 0.2 wrote it
WITH asked AS (
  INSERT INTO skiplane.answered_request (head, first_id, body_hash, create_time, hash)
  SELECT r.head, r.first_id, r.body_hash, now(), r.hash
  FROM unnest($13::int8[], $14::uuid[], $15::int8[], $16::int8[], $17::int8[], $18::text[])
    AS r(head, hash, body_hash, first_id, lane, request_id)
  WHERE NOT EXISTS (SELECT FROM skiplane.enqueue_request o
                    WHERE o.lane = r.lane AND o.request_id = r.request_id OFFSET 0)
  ON CONFLICT (head, hash) DO NOTHING
  RETURNING first_id
), known AS MATERIALIZED (
  SELECT r.first_id FROM unnest($16::int8[]) AS r(first_id)
  WHERE r.first_id NOT IN (SELECT a.first_id FROM asked a)
), made AS (
  INSERT INTO skiplane.task_pack
    (lane, id, schedule_time, create_time, gone, max_attempts, bytes, task_count, priority,
     content_types, headers, payloads)
  SELECT p.lane, p.id, c.now, c.now, p.gone & skiplane.first_positions(e.tasks), p.max_attempts,
         p.bytes, e.tasks, p.priority,
         CASE WHEN $12::bool THEN ($1::text[])[p.first : p.first + e.tasks - 1] END,
         CASE WHEN $12::bool THEN (($2::text[])[p.first : p.first + e.tasks - 1])::jsonb[] END,
         ($3::bytea[])[p.first : p.first + e.tasks - 1]
  FROM (
    SELECT u.*,
           CASE WHEN NOT EXISTS (SELECT FROM known k) THEN 0
                ELSE coalesce((
                  SELECT bit_or(1::int8 << (t.n - 1)::int)
                  FROM unnest(($4::int8[])[u.first : u.first + u.tasks - 1])
                    WITH ORDINALITY AS t(call, n)
                  WHERE t.call IN (SELECT k.first_id FROM known k)), 0) END AS gone
    FROM unnest($5::int8[], $6::int8[], $7::int2[], $8::int2[], $9::int4[], $10::int4[],
                $11::int4[])
      AS u(lane, id, tasks, priority, max_attempts, first, bytes)
  ) p
  CROSS JOIN LATERAL (
    SELECT 65 - position('1' IN (skiplane.first_positions(p.tasks) & ~p.gone)::bit(64)::text)
             AS tasks
  ) e
  CROSS JOIN LATERAL (SELECT clock_timestamp() + 0 * p.tasks * interval '1 second' AS now
                      OFFSET 0) c
  WHERE p.gone <> skiplane.first_positions(p.tasks)
  RETURNING lane, priority, schedule_time, task_count - bit_count(gone::bit(64)) AS tasks
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
  SELECT m.lane, 0, 0, sum(m.tasks) FROM made m GROUP BY m.lane
)
SELECT m.lane, m.priority, true, sum(m.tasks)::int8,
       (date_part('epoch', min(m.schedule_time)) * 1e6)::int8,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8
FROM made m GROUP BY m.lane, m.priority
UNION ALL
SELECT k.first_id, NULL, NULL, NULL, NULL, (date_part('epoch', clock_timestamp()) * 1e6)::int8,
       (date_part('epoch', now()) * 1e6)::int8
FROM known k
