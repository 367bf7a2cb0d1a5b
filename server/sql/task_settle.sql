-- Ends attempts in any way, by id. $1 lane; then one element per item, ordered by id:
-- $2 ids  $3 lease numbers  $4 sessions  $5 what to do: 1 ack, 2 retry, 3 fail, 6 release
-- $6 retry delays in microseconds  $7 error types  $8 fingerprints  $9 error texts; and $10 which
-- history is kept: 1 all, 2 failures, 3 none  $11 ledger rows whose last task this is
-- One row per item whose lease was the task's: id, lease number, outcome (3 also for a retry
-- without attempts left), run time in microseconds (null when it ended), priority, stage, time now.
WITH want AS MATERIALIZED (
  SELECT u.*, x.place, now() + u.delay * interval '1 microsecond' AS again_at,
         CASE WHEN u.delay > 0
           THEN ceil(date_part('epoch', now() + u.delay * interval '1 microsecond') / 10)::int
           ELSE 0 END AS again_due
  FROM unnest($2::int8[], $3::int8[], $4::uuid[], $5::int2[], $6::int8[], $7::text[], $8::text[],
              $9::bytea[])
    AS u(id, lease_no, session, action, delay, error_type, error_print, error_text)
  CROSS JOIN LATERAL (
    SELECT o.ctid AS place FROM skiplane.task o
    WHERE o.lane = $1::int8 AND o.id = u.id AND o.lease_no = u.lease_no
      AND o.session = u.session AND o.state = 2
    OFFSET 0
  ) x
), again AS (
  UPDATE skiplane.task t
  SET state = 1,
      attempt = CASE WHEN w.action = 6 THEN t.attempt - 1 ELSE t.attempt END,
      run_at = CASE WHEN w.action = 6 THEN t.run_at ELSE w.again_at END,
      due = CASE WHEN w.action = 6 THEN 0 ELSE w.again_due END,
      error_type = CASE WHEN w.action = 6 THEN t.error_type ELSE w.error_type END,
      error_print = CASE WHEN w.action = 6 THEN t.error_print ELSE w.error_print END,
      error_text = CASE WHEN w.action = 6 THEN t.error_text ELSE w.error_text END
  FROM want w
  WHERE t.lane = $1::int8 AND t.ctid = w.place AND t.id = w.id AND t.lease_no = w.lease_no
    AND t.session = w.session AND t.state = 2
    AND (w.action = 6 OR (w.action = 2 AND t.attempt < t.max_attempts))
  RETURNING t.id, t.lease_no, t.session, t.due, t.stage, t.priority, t.attempt, t.max_attempts,
            t.leased_at, t.run_at, t.created_at, t.key, w.error_type, w.error_print, w.error_text,
            w.action AS outcome
), ended AS (
  DELETE FROM skiplane.task t
  USING want w
  WHERE t.lane = $1::int8 AND t.ctid = w.place AND t.id = w.id AND t.lease_no = w.lease_no
    AND t.session = w.session AND t.state = 2
    AND (w.action IN (1, 3) OR (w.action = 2 AND t.attempt >= t.max_attempts))
  RETURNING t.id, t.lease_no, t.session, t.stage, t.priority, t.attempt, t.max_attempts,
            t.leased_at, t.run_at, t.created_at, t.key, w.error_type, w.error_print, w.error_text,
            CASE WHEN w.action = 1 THEN 1 ELSE 3 END AS outcome, t.content_type, t.headers,
            t.payload
), done AS MATERIALIZED (
  SELECT a.id, a.lease_no, a.session, a.stage, a.priority, a.attempt, a.max_attempts,
         a.leased_at, a.run_at, a.created_at, a.key, a.error_type, a.error_print, a.error_text,
         a.outcome, false AS is_last
  FROM again a
  UNION ALL
  SELECT e.id, e.lease_no, e.session, e.stage, e.priority, e.attempt, e.max_attempts,
         e.leased_at, e.run_at, e.created_at, e.key, e.error_type, e.error_print, e.error_text,
         e.outcome, true
  FROM ended e
), buried AS (
  INSERT INTO skiplane.task_failed
    (lane, id, failed_at, run_at, created_at, lease_no, session, attempt, max_attempts, stage,
     priority, key, content_type, headers, error_type, error_print, error_text, payload)
  SELECT $1::int8, e.id, now(), e.run_at, e.created_at, e.lease_no, e.session, e.attempt,
         e.max_attempts, e.stage, e.priority, e.key, e.content_type, e.headers, e.error_type,
         e.error_print, e.error_text, e.payload
  FROM ended e WHERE e.outcome = 3
), kept AS (
  INSERT INTO skiplane.history
    (lane, task_id, finished_at, leased_at, run_at, created_at, session, attempt, max_attempts,
     stage, priority, outcome, is_last, key, error_type, error_print, error_text)
  SELECT $1::int8, d.id, now(), d.leased_at, d.run_at, d.created_at, d.session, d.attempt,
         d.max_attempts, d.stage, d.priority, d.outcome, d.is_last, d.key, d.error_type,
         d.error_print, d.error_text
  FROM done d WHERE d.outcome <> 6 AND ($10::int2 = 1 OR ($10::int2 = 2 AND d.outcome <> 1))
), remembered AS (
  INSERT INTO skiplane.settled (lane, settled_at, outcome, lease_nos, tasks, numbers, ids)
  SELECT $1::int8, now(), d.outcome, array_agg(d.lease_no), array_agg(d.id),
         int8range(min(d.lease_no), max(d.lease_no), '[]'), int8range(min(d.id), max(d.id), '[]')
  FROM done d GROUP BY d.outcome
), released AS (
  UPDATE skiplane.task_key k SET finished_at = now()
  WHERE k.lane = $1::int8 AND k.ctid = ANY (ARRAY(
    SELECT x.place
    FROM ended e
    CROSS JOIN LATERAL (
      SELECT o.ctid AS place FROM skiplane.task_key o
      WHERE o.lane = $1::int8 AND o.key = e.key AND o.task_id = e.id OFFSET 0
    ) x
    WHERE e.key IS NOT NULL))
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, leased, succeeded, failed)
  SELECT $1::int8, c.stage, c.due, sum(c.waiting), sum(c.leased), sum(c.succeeded), sum(c.failed)
  FROM (
    SELECT a.stage, a.due, 1 AS waiting, 0 AS leased, 0 AS succeeded, 0 AS failed FROM again a
    UNION ALL
    SELECT d.stage, 0, 0, -1, (d.outcome = 1)::int, (d.outcome = 3)::int FROM done d
  ) c
  GROUP BY c.stage, c.due
), closed AS (
  DELETE FROM skiplane.lease_ledger l
  WHERE l.lane = $1::int8 AND l.ctid = ANY (ARRAY(
    SELECT x.place
    FROM unnest($11::uuid[]) AS c(id)
    CROSS JOIN LATERAL (
      SELECT o.ctid AS place FROM skiplane.lease_ledger o
      WHERE o.lane = $1::int8 AND o.id = c.id OFFSET 0
    ) x))
)
SELECT d.id, d.lease_no, d.outcome,
       CASE WHEN d.is_last THEN NULL ELSE (date_part('epoch', d.run_at) * 1e6)::int8 END,
       d.priority, d.stage, (date_part('epoch', now()) * 1e6)::int8
FROM done d
