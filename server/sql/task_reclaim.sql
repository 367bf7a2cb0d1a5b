-- Takes the tasks of lost sessions back: charged, and free again at once; a task without attempts
-- left fails. $1 lane  $2 sessions  $3 history: 1 all, 2 failures, 3 none  $4 ledger rows at most
-- One row per task: id, session, outcome (4 free again, 3 failed), priority, stage, run time in
-- microseconds; and, first, one row with a null id when a ledger row was looked at.
-- A ledger entry goes only with its task, or when the task is not held under it any more.
WITH named AS (
  DELETE FROM skiplane.lease_ledger l
  WHERE l.lane = $1::int8 AND l.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.lease_ledger o
    WHERE o.lane = $1::int8 AND o.sessions && $2::uuid[] ORDER BY o.id LIMIT $4::int4
    FOR UPDATE SKIP LOCKED))
  RETURNING l.id, l.request_id, l.sessions, l.tasks, l.lease_nos, l.folds, l.check_at
), entry AS MATERIALIZED (
  SELECT n.id AS ledger, n.request_id, n.folds, n.check_at, e.session, e.task, e.lease_no, e.n,
         e.session = ANY ($2::uuid[]) AS is_lost
  FROM named n
  CROSS JOIN LATERAL unnest(n.sessions, n.tasks, n.lease_nos) WITH ORDINALITY
    AS e(session, task, lease_no, n)
), held AS MATERIALIZED (
  SELECT e.task, e.lease_no, e.session, x.place
  FROM entry e
  CROSS JOIN LATERAL (
    SELECT o.ctid AS place FROM skiplane.task o
    WHERE o.lane = $1::int8 AND o.id = e.task AND o.lease_no = e.lease_no AND o.state = 2
    OFFSET 0
  ) x
  WHERE e.is_lost
  ORDER BY e.task
), again AS (
  UPDATE skiplane.task t
  SET state = 1, due = 0, lease_no = t.lease_no + 1, error_type = 'LEASE_LOST', error_print = NULL,
      error_text = NULL
  FROM held h
  WHERE t.lane = $1::int8 AND t.ctid = h.place AND t.id = h.task AND t.lease_no = h.lease_no
    AND t.session = h.session AND t.state = 2 AND t.attempt < t.max_attempts
  RETURNING t.id, t.session, t.stage, t.priority, t.attempt, t.max_attempts, t.leased_at, t.run_at,
            t.created_at, t.key, 4 AS outcome
), ended AS (
  DELETE FROM skiplane.task t
  USING held h
  WHERE t.lane = $1::int8 AND t.ctid = h.place AND t.id = h.task AND t.lease_no = h.lease_no
    AND t.session = h.session AND t.state = 2 AND t.attempt >= t.max_attempts
  RETURNING t.id, t.session, t.stage, t.priority, t.attempt, t.max_attempts, t.leased_at, t.run_at,
            t.created_at, t.key, 3 AS outcome, t.lease_no, t.content_type, t.headers, t.payload
), done AS MATERIALIZED (
  SELECT a.id, a.session, a.stage, a.priority, a.attempt, a.max_attempts, a.leased_at, a.run_at,
         a.created_at, a.key, a.outcome
  FROM again a
  UNION ALL
  SELECT e.id, e.session, e.stage, e.priority, e.attempt, e.max_attempts, e.leased_at, e.run_at,
         e.created_at, e.key, e.outcome
  FROM ended e
), left_over AS (
  INSERT INTO skiplane.lease_ledger
    (lane, id, request_id, sessions, tasks, lease_nos, folds, check_at)
  SELECT $1::int8, e.ledger, min(e.request_id), array_agg(e.session ORDER BY e.n),
         array_agg(e.task ORDER BY e.n), array_agg(e.lease_no ORDER BY e.n), max(e.folds),
         max(e.check_at)
  FROM entry e
  WHERE NOT e.is_lost
     OR (e.task IN (SELECT h.task FROM held h) AND e.task NOT IN (SELECT d.id FROM done d))
  GROUP BY e.ledger
), buried AS (
  INSERT INTO skiplane.task_failed
    (lane, id, failed_at, run_at, created_at, lease_no, session, attempt, max_attempts, stage,
     priority, key, content_type, headers, error_type, payload)
  SELECT $1::int8, e.id, now(), e.run_at, e.created_at, e.lease_no, e.session, e.attempt,
         e.max_attempts, e.stage, e.priority, e.key, e.content_type, e.headers, 'LEASE_LOST',
         e.payload
  FROM ended e
), kept AS (
  INSERT INTO skiplane.history
    (lane, task_id, finished_at, leased_at, run_at, created_at, session, attempt, max_attempts,
     stage, priority, outcome, is_last, key, error_type)
  SELECT $1::int8, d.id, now(), d.leased_at, d.run_at, d.created_at, d.session, d.attempt,
         d.max_attempts, d.stage, d.priority, d.outcome, d.outcome = 3, d.key, 'LEASE_LOST'
  FROM done d WHERE $3::int2 < 3
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
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, leased, failed)
  SELECT $1::int8, d.stage, 0, count(*) FILTER (WHERE d.outcome = 4), -count(*),
         count(*) FILTER (WHERE d.outcome = 3)
  FROM done d GROUP BY d.stage
)
SELECT NULL AS id, NULL::uuid, NULL, NULL, NULL, NULL WHERE EXISTS (SELECT 1 FROM named n)
UNION ALL
SELECT d.id, d.session, d.outcome, d.priority, d.stage, (date_part('epoch', d.run_at) * 1e6)::int8
FROM done d
