-- As task_ack, of tasks that are packed. $1 lane; then one element per pack, lease number and
-- session, ordered by pack: $2 ids of packs  $3 lease numbers  $4 sessions  $5 masks of the acked
-- positions; and $6 whether the queue keeps history of successes  $7 for how many days  $8 ledger
-- rows whose last task this is  $9 id of this try  $10 as $11 of task_ack
-- Rows for each element of which something was acked: its number, mask, time now in microseconds.
-- Not for each pack: another element may name the same task under a lease that is not its own. The
-- others are a case for task_settle: they have a row of their own by now, or their lease is over.
-- lanes: any because a lane that is given once lets a plan read all of it for single packs
-- locks: any because packs of several workers are acked beside each other, in the order of ids
WITH pack AS MATERIALIZED (
  SELECT x.*
  FROM (SELECT DISTINCT u.id FROM unnest($2::int8[]) AS u(id) ORDER BY u.id) w
  CROSS JOIN LATERAL (
    SELECT o.lane, o.id, o.gone, o.task_count, o.sessions, o.lease_numbers, o.masks,
           o.schedule_time, o.create_time, o.max_attempts, o.priority
    FROM skiplane.task_pack o WHERE o.lane = $1::int8 AND o.id = w.id FOR UPDATE
  ) x
), hit AS MATERIALIZED (
  SELECT u.number, p.id, u.session, u.lease_number, u.mask & l.mask & ~p.gone AS mask
  FROM unnest($2::int8[], $3::int8[], $4::uuid[], $5::int8[]) WITH ORDINALITY
    AS u(id, lease_number, session, mask, number)
  JOIN pack p ON p.id = u.id
  CROSS JOIN LATERAL unnest(p.sessions, p.lease_numbers, p.masks)
    AS l(session, lease_number, mask)
  WHERE l.session = u.session AND l.lease_number = u.lease_number
    AND u.mask & l.mask & ~p.gone <> 0
), acked AS MATERIALIZED (
  SELECT p.*, h.mask, h.mine, h.numbers, h.hits,
         p.gone | h.mask = skiplane.first_positions(p.task_count) AS ends
  FROM pack p
  JOIN (
    SELECT h.id, bit_or(h.mask) AS mask, array_agg(h.session) AS mine,
           array_agg(h.lease_number) AS numbers, array_agg(h.mask) AS hits
    FROM hit h GROUP BY h.id
  ) h ON h.id = p.id
), marked AS (
  -- By id: the location of a row that was waited for is newer than what this statement sees.
  UPDATE skiplane.task_pack t SET gone = t.gone | a.mask
  FROM acked a WHERE NOT a.ends AND t.lane = ANY (ARRAY[a.lane]) AND t.id = a.id
), ended AS (
  DELETE FROM skiplane.task_pack t USING acked a
  WHERE a.ends AND t.lane = ANY (ARRAY[a.lane]) AND t.id = a.id
), history_rows AS (
  INSERT INTO skiplane.pack_history
    (lane, id, expire_time, end_time, schedule_time, create_time, max_attempts, priority, sessions,
     lease_numbers, masks)
  SELECT $1::int8, a.id, now() + $7::int4 * interval '1 day', now(), a.schedule_time, a.create_time,
         a.max_attempts, a.priority, a.mine, a.numbers, a.hits
  FROM acked a WHERE $6::bool
), remembered AS (
  INSERT INTO skiplane.settled
    (lane, settle_time, outcome, lease_numbers, tasks, numbers, ids, try_id, transition)
  SELECT $1::int8, now(), 1, array_agg(h.lease_number), array_agg(h.id + i),
         int8range(min(h.lease_number), max(h.lease_number), '[]'),
         int8range(min(h.id + i), max(h.id + i), '[]'), $9::int8, 1
  FROM hit h CROSS JOIN LATERAL skiplane.positions(h.mask) AS i
  GROUP BY (h.id + i) / $10::int8
), counted AS (
  INSERT INTO skiplane.counter_delta
    (lane, stage, due, leased, succeeded, end_time, outcome, attempts, run_us, run_max_us, wait_us)
  SELECT $1::int8, 0, 0, -sum(c.tasks), sum(c.tasks), now(), 1, sum(c.tasks),
         sum(c.tasks * c.run_us), max(c.run_us), sum(c.tasks * c.wait_us)
  FROM (
    SELECT bit_count(h.mask::bit(64)) AS tasks,
           (date_part('epoch', now()) * 1e6)::int8 - h.lease_number AS run_us,
           greatest(h.lease_number - (date_part('epoch', a.schedule_time) * 1e6)::int8, 0)
             AS wait_us
    FROM hit h JOIN acked a ON a.id = h.id
  ) c
  HAVING count(*) > 0
), closed AS (
  DELETE FROM skiplane.lease_ledger l
  WHERE l.lane = $1::int8 AND l.ctid = ANY (ARRAY(
    SELECT x.row_location
    FROM unnest($8::uuid[]) AS c(id)
    CROSS JOIN LATERAL (
      SELECT o.ctid AS row_location FROM skiplane.lease_ledger o
      WHERE o.lane = $1::int8 AND o.id = c.id OFFSET 0
    ) x))
)
SELECT h.number, h.mask, (date_part('epoch', now()) * 1e6)::int8 FROM hit h
