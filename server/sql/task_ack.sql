-- Ends attempts as succeeded, by the row locations of their leases.
-- $1 lane; then one element per item, ordered by id: $2 row locations  $3 ids  $4 lease numbers
-- $5 sessions; and $6 whether the queue keeps history of successes  $7 for how many days
-- $8 with payloads  $9 ledger rows whose last task this is  $10 id of this try
-- $11 how many ids a row that remembers them may span
-- One row per item that was acked: id, lease number, time now in microseconds. The others are a
-- case for task_settle: their row moved, their task does not end with this ack, or their lease is
-- over.
WITH deleted AS (
  DELETE FROM skiplane.task t
  USING unnest($2::tid[], $3::int8[], $4::int8[], $5::uuid[])
    AS w(row_location, id, lease_number, session)
  WHERE t.lane = $1::int8 AND t.ctid = w.row_location AND t.id = w.id
    AND t.lease_number = w.lease_number
    AND t.session = w.session AND t.state = 2 AND t.planned_time IS NULL AND t.rerun_pending IS NULL
  RETURNING t.id, t.lease_number, t.session, t.stage, t.priority, t.attempt, t.max_attempts,
            t.lease_time, t.schedule_time, t.create_time, t.version, t.key, t.error_fingerprint,
            CASE WHEN $8::bool THEN t.payload END AS payload
), history_rows AS (
  INSERT INTO skiplane.history
    (lane, task_id, expire_time, end_time, lease_time, schedule_time, create_time, session, attempt,
     max_attempts, stage, priority, outcome, ends_task, version, key, payload)
  SELECT $1::int8, g.id, now() + $7::int4 * interval '1 day', now(), g.lease_time, g.schedule_time,
         g.create_time, g.session, g.attempt, g.max_attempts, g.stage, g.priority, 1, true,
         g.version, g.key, g.payload
  FROM deleted g WHERE $6::bool
), remembered AS (
  INSERT INTO skiplane.settled
    (lane, settle_time, outcome, lease_numbers, tasks, numbers, ids, try_id, transition)
  SELECT $1::int8, now(), 1, array_agg(g.lease_number), array_agg(g.id),
         int8range(min(g.lease_number), max(g.lease_number), '[]'),
         int8range(min(g.id), max(g.id), '[]'), $10::int8, 1
  FROM deleted g GROUP BY g.id / $11::int8
), released AS (
  UPDATE skiplane.task_key k SET end_time = now(), end_state = 4
  FROM (
    SELECT x.row_location
    FROM (SELECT w.id, w.key FROM deleted w WHERE w.key IS NOT NULL ORDER BY w.key) g
    CROSS JOIN LATERAL (
      SELECT o.ctid AS row_location FROM skiplane.task_key o
      WHERE o.lane = $1::int8 AND o.key = g.key AND o.task_id = g.id OFFSET 0
    ) x
    OFFSET 0
  ) y
  WHERE k.lane = $1::int8 AND k.ctid = y.row_location
), counted AS (
  INSERT INTO skiplane.counter_delta
    (lane, stage, due, leased, succeeded, end_time, outcome, attempts, run_us, run_max_us, wait_us)
  SELECT $1::int8, g.stage, 0, -count(*), count(*), now(), 1, count(*),
         (sum(date_part('epoch', now() - g.lease_time)) * 1e6)::int8,
         (max(date_part('epoch', now() - g.lease_time)) * 1e6)::int8,
         (sum(greatest(date_part('epoch', g.lease_time - g.schedule_time), 0)) * 1e6)::int8
  FROM deleted g GROUP BY g.stage
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, fingerprint, retrying)
  SELECT $1::int8, g.stage, g.error_fingerprint, -count(*)
  FROM deleted g WHERE g.error_fingerprint IS NOT NULL GROUP BY g.stage, g.error_fingerprint
), closed AS (
  DELETE FROM skiplane.lease_ledger l
  WHERE l.lane = $1::int8 AND l.ctid = ANY (ARRAY(
    SELECT x.row_location
    FROM unnest($9::uuid[]) AS c(id)
    CROSS JOIN LATERAL (
      SELECT o.ctid AS row_location FROM skiplane.lease_ledger o
      WHERE o.lane = $1::int8 AND o.id = c.id OFFSET 0
    ) x))
)
SELECT g.id, g.lease_number, (SELECT (date_part('epoch', now()) * 1e6)::int8) FROM deleted g
