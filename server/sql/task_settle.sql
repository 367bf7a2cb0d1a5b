-- Ends attempts in any way, by id. $1 lane; then one element per item, ordered by id:
-- $2 ids  $3 lease numbers  $4 sessions  $5 what happened: 1 ack, 2 retry, 3 fail, 4 lost,
-- 6 release, 7 hanged  $6 retry delays in microseconds  $7 error types  $8 fingerprints
-- $9 error texts; of acks: $10 stages to move to (null: the task has passed its last one)  $11 max
-- attempts there  $12 payloads, $13 content types and $14 headers for there (null: as they were)
-- $15 results. Of the queue: $16 which history is kept: 1 all, 2 failures, 3 none; $17 the same of
-- periodic tasks  $18 days  $19 days for failed tasks  $20 with payloads  $21 with results
-- $22 ledger rows whose last task this is  $23 id of this try  $24 as $11 of task_ack
-- One row per item whose lease was the task's: id, lease number, outcome (as in history; 6
-- released), schedule time in microseconds (null: the task ended), priority, stage, time now.
-- A task that changed between this statement's snapshot and its lock has no row: try again.
-- locks: any because a settlement waits for whoever has the row, in the order of ids
WITH want AS MATERIALIZED (
  SELECT u.*, x.*, now() + u.delay * interval '1 microsecond' AS retry_at
  FROM unnest($2::int8[], $3::int8[], $4::uuid[], $5::int2[], $6::int8[], $7::text[], $8::text[],
              $9::bytea[], $10::int2[], $11::int4[], $12::bytea[], $13::text[], $14::text[],
              $15::bytea[])
    AS u(id, lease_number, session, action, delay, error_type, error_fingerprint, error_text,
         next_stage, next_max, next_payload, next_content_type, next_headers, result)
  CROSS JOIN LATERAL (
    SELECT o.ctid AS row_location, o.attempt, o.max_attempts, o.stage, o.schedule_time,
           o.rerun_pending, o.cancel_requested, o.paused,
           o.error_fingerprint AS old_fingerprint, o.last_progress AS old_progress, o.catch_up,
           o.planned_time AS was_planned_time,
           CASE
             -- Of a run that began before its planned time that one is still to come.
             WHEN o.catch_up = 2 AND o.planned_time > o.lease_time THEN o.planned_time
             WHEN o.planned_time IS NOT NULL THEN
               skiplane.next_planned_time(o.planned_time, o.period, o.cron, o.time_zone, o.catch_up,
                                          now())
           END AS next_planned
    FROM skiplane.task o
    WHERE o.lane = $1::int8 AND o.id = u.id AND o.lease_number = u.lease_number
      AND o.session = u.session AND o.state = 2
    OFFSET 0
  ) x
), decided AS MATERIALIZED (
  -- Transition: 1 succeeded, 3 failed, 5 cancelled: the task ends. 10 starts afresh, as newer
  -- content came; 11 moves to its next stage; 12 waits for its next planned time; 13 is retried; 14
  -- returns to its original position.
  SELECT w.*,
         CASE
           -- An ack that ends the task comes before a cancel; one that moves it on does not.
           WHEN w.cancel_requested
             AND NOT (w.action = 1 AND w.next_stage IS NULL AND w.next_planned IS NULL) THEN 5
           WHEN w.rerun_pending THEN 10
           WHEN w.action = 6 THEN 14
           WHEN w.action = 1 AND w.next_stage IS NOT NULL THEN 11
           WHEN w.action = 1 AND w.next_planned IS NULL THEN 1
           WHEN w.action = 1 THEN 12
           WHEN w.action <> 3 AND w.attempt < w.max_attempts AND w.paused IS NULL
             AND (w.next_planned IS NULL OR w.action <> 2 OR w.retry_at < CASE
                    -- Of one that runs late, each planned time has as long as between two of them.
                    WHEN w.catch_up = 2
                      THEN greatest(w.next_planned, now() + (w.next_planned - w.was_planned_time))
                    ELSE w.next_planned END) THEN 13
           WHEN w.next_planned IS NOT NULL THEN 12
           ELSE 3
         END AS transition
  FROM want w
), reported AS MATERIALIZED (
  -- What the attempts reported whose task runs again, or may, by task id. A session has its reports
  -- of thousands of tasks in one value: || unpacks it once, instead of at each look for a task.
  SELECT jsonb_object_agg(e.id::text, e.progress) AS progress
  FROM (
    SELECT s.id, s.progress || '{}' AS progress FROM skiplane.worker_session s
    WHERE s.id = ANY (ARRAY(SELECT j.session FROM decided j WHERE j.transition IN (3, 13, 14)))
    OFFSET 0
  ) s
  CROSS JOIN LATERAL (
    SELECT j.id, (s.progress -> j.id::text) - '{lane,lease}'::text[] AS progress
    FROM decided j
    WHERE j.session = s.id AND j.transition IN (3, 13, 14)
      AND (s.progress -> j.id::text ->> 'lease')::int8 = j.lease_number
    OFFSET 0
  ) e
), resolved AS MATERIALIZED (
  SELECT j.*,
         CASE WHEN j.transition IN (3, 13, 14) THEN
           coalesce((SELECT r.progress FROM reported r) -> j.id::text, j.old_progress)
         END AS new_progress,
         CASE WHEN j.transition = 5 THEN 5
              WHEN j.action = 2 AND j.transition IN (3, 12) THEN 3
              WHEN j.transition = 3 THEN 3
              ELSE j.action END AS outcome,
         CASE WHEN j.transition IN (10, 11) THEN now()
              WHEN j.transition = 12 AND j.paused THEN 'infinity'
              WHEN j.transition = 12 THEN j.next_planned
              WHEN j.transition = 13 AND j.action = 2 THEN j.retry_at
              -- It was due: the clock may go back.
              ELSE least(j.schedule_time, now()) END AS again_at,
         j.transition = 13 OR (j.transition = 12 AND j.action <> 1) AS keeps_error,
         j.transition = 11 AND j.next_payload IS NOT NULL AS gets_content,
         -- A run that is over belongs to no error group: nothing retries it.
         CASE WHEN j.transition = 13 THEN j.error_fingerprint END AS waiting_fingerprint
  FROM decided j
), mixed AS MATERIALIZED (
  -- Rows that change and then rows that go would not be in one order: so all are locked before.
  SELECT count(*) AS rows FROM resolved w
  CROSS JOIN LATERAL (
    SELECT FROM skiplane.task o
    WHERE o.lane = $1::int8 AND o.id = w.id AND o.lease_number = w.lease_number
      AND o.session = w.session AND o.state = 2
    FOR UPDATE
  ) x
  WHERE EXISTS (SELECT FROM resolved f WHERE f.transition >= 10)
    AND EXISTS (SELECT FROM resolved f WHERE f.transition < 10)
), again AS (
  UPDATE skiplane.task t
  SET state = 1, rerun_pending = NULL,
      stage = CASE WHEN w.transition = 11 THEN w.next_stage WHEN w.transition IN (10, 12) THEN 0
                   ELSE t.stage END,
      attempt = CASE WHEN w.transition IN (10, 11, 12) THEN 0
                     WHEN w.transition = 14 THEN t.attempt - 1 ELSE t.attempt END,
      max_attempts = CASE WHEN w.transition = 11 THEN coalesce(w.next_max, t.max_attempts)
                          WHEN w.transition IN (10, 12)
                            THEN coalesce(t.own_max_attempts, t.max_attempts)
                          ELSE t.max_attempts END,
      -- What a stage has of its own ends with the run: the next one begins as the task was made.
      own_max_attempts = CASE WHEN w.transition = 11
                                THEN coalesce(t.own_max_attempts, t.max_attempts)
                              WHEN w.transition NOT IN (10, 12) THEN t.own_max_attempts END,
      schedule_time = w.again_at,
      due = skiplane.due_slot(w.again_at, now()),
      planned_time = CASE WHEN w.transition = 12 THEN w.next_planned ELSE t.planned_time END,
      error_type = CASE WHEN w.transition = 14 THEN t.error_type
                        WHEN w.keeps_error THEN w.error_type END,
      error_fingerprint = CASE WHEN w.transition = 14 THEN t.error_fingerprint
                         ELSE w.waiting_fingerprint END,
      error_text = CASE WHEN w.transition = 14 THEN t.error_text
                        WHEN w.keeps_error THEN w.error_text END,
      last_progress = w.new_progress,
      payload = CASE WHEN w.gets_content THEN w.next_payload
                     WHEN w.transition IN (10, 12) THEN coalesce(t.own_payload, t.payload)
                     ELSE t.payload END,
      content_type = CASE WHEN w.gets_content THEN w.next_content_type
                          WHEN w.transition IN (10, 12) AND t.own_payload IS NOT NULL
                            THEN t.own_content_type
                          ELSE t.content_type END,
      headers = CASE WHEN w.gets_content THEN w.next_headers::jsonb
                     WHEN w.transition IN (10, 12) AND t.own_payload IS NOT NULL THEN t.own_headers
                     ELSE t.headers END,
      own_payload = CASE WHEN w.gets_content AND t.planned_time IS NOT NULL
                           THEN coalesce(t.own_payload, t.payload)
                         WHEN w.transition NOT IN (10, 12) THEN t.own_payload END,
      own_content_type = CASE WHEN w.gets_content AND t.planned_time IS NOT NULL
                                AND t.own_payload IS NULL THEN t.content_type
                              WHEN w.transition NOT IN (10, 12) THEN t.own_content_type END,
      own_headers = CASE WHEN w.gets_content AND t.planned_time IS NOT NULL
                           AND t.own_payload IS NULL THEN t.headers
                         WHEN w.transition NOT IN (10, 12) THEN t.own_headers END
  FROM resolved w
  WHERE t.lane = $1::int8 AND t.ctid = w.row_location AND t.id = w.id
    AND t.lease_number = w.lease_number AND t.session = w.session AND t.state = 2
    AND w.transition >= 10
    AND t.rerun_pending IS NOT DISTINCT FROM w.rerun_pending
    AND t.cancel_requested IS NOT DISTINCT FROM w.cancel_requested
    AND t.paused IS NOT DISTINCT FROM w.paused
    AND t.planned_time IS NOT DISTINCT FROM w.was_planned_time
    AND (SELECT m.rows FROM mixed m) >= 0
  RETURNING w.*, t.due AS new_due, t.stage AS new_stage, t.priority, t.lease_time, t.create_time,
            t.key, t.version, t.planned_time, CASE WHEN $20::bool THEN t.payload END AS ran_with,
            NULL AS last_content_type, NULL::jsonb AS last_headers, NULL::bytea AS last_payload
), ended AS (
  DELETE FROM skiplane.task t
  USING resolved w
  WHERE t.lane = $1::int8 AND t.ctid = w.row_location AND t.id = w.id
    AND t.lease_number = w.lease_number AND t.session = w.session AND t.state = 2
    AND w.transition < 10
    AND t.rerun_pending IS NOT DISTINCT FROM w.rerun_pending
    AND t.cancel_requested IS NOT DISTINCT FROM w.cancel_requested
    AND t.paused IS NOT DISTINCT FROM w.paused
    AND t.planned_time IS NOT DISTINCT FROM w.was_planned_time
    AND (SELECT m.rows FROM mixed m) >= 0
  RETURNING w.*, NULL::int AS new_due, NULL::int2 AS new_stage, t.priority, t.lease_time,
            t.create_time, t.key, t.version, t.planned_time,
            CASE WHEN $20::bool THEN t.payload END AS ran_with,
            t.content_type AS last_content_type, t.headers AS last_headers,
            t.payload AS last_payload
), done AS MATERIALIZED (
  SELECT * FROM again
  UNION ALL
  SELECT * FROM ended
), buried AS (
  INSERT INTO skiplane.task_failed
    (lane, id, expire_time, end_time, schedule_time, create_time, lease_number, session, attempt,
     max_attempts, stage, priority, version, key, content_type, headers, error_type,
     error_fingerprint, error_text, last_progress, payload)
  SELECT $1::int8, e.id, now() + $19::int4 * interval '1 day', now(), e.schedule_time,
         e.create_time, e.lease_number, e.session, e.attempt, e.max_attempts, e.stage, e.priority,
         e.version, e.key, e.last_content_type, e.last_headers, e.error_type,
         e.error_fingerprint, e.error_text, e.new_progress, e.last_payload
  FROM ended e WHERE e.transition = 3
), history_rows AS (
  INSERT INTO skiplane.history
    (lane, task_id, expire_time, end_time, lease_time, schedule_time, create_time, session, attempt,
     max_attempts, stage, priority, outcome, ends_task, version, key, error_type, error_fingerprint,
     error_text, payload, result)
  SELECT $1::int8, d.id, now() + $18::int4 * interval '1 day', now(), d.lease_time, d.schedule_time,
         d.create_time, d.session, d.attempt, d.max_attempts, d.stage, d.priority, d.outcome,
         d.transition < 10, d.version, d.key, d.error_type, d.error_fingerprint, d.error_text,
         d.ran_with, CASE WHEN $21::bool THEN d.result END
  FROM done d
  CROSS JOIN LATERAL (SELECT CASE WHEN d.planned_time IS NULL THEN $16::int2 ELSE $17::int2 END) AS
    p(policy)
  WHERE d.outcome <> 6 AND (p.policy = 1 OR (p.policy = 2 AND d.outcome <> 1))
), remembered AS (
  INSERT INTO skiplane.settled
    (lane, settle_time, outcome, lease_numbers, tasks, numbers, ids, try_id, transition)
  SELECT $1::int8, now(), a.outcome, array_agg(a.lease_number), array_agg(a.id),
         int8range(min(a.lease_number), max(a.lease_number), '[]'),
         int8range(min(a.id), max(a.id), '[]'), $23::int8, a.transition
  FROM (
    SELECT d.id, d.lease_number, d.transition,
           CASE WHEN d.action = 1 THEN 1 ELSE d.outcome END AS outcome
    FROM done d WHERE d.action NOT IN (4, 7)
  ) a
  GROUP BY a.outcome, a.transition, a.id / $24::int8
), released AS (
  UPDATE skiplane.task_key k
  SET end_time = now(), end_state = CASE y.transition WHEN 1 THEN 4 WHEN 3 THEN 5 ELSE 6 END
  FROM (
    SELECT x.row_location, e.transition
    FROM (SELECT w.id, w.key, w.transition FROM ended w WHERE w.key IS NOT NULL ORDER BY w.key) e
    CROSS JOIN LATERAL (
      SELECT o.ctid AS row_location FROM skiplane.task_key o
      WHERE o.lane = $1::int8 AND o.key = e.key AND o.task_id = e.id OFFSET 0
    ) x
    OFFSET 0
  ) y
  WHERE k.lane = $1::int8 AND k.ctid = y.row_location
), counted AS (
  INSERT INTO skiplane.counter_delta
    (lane, stage, due, waiting, leased, succeeded, failed, cancelled, moved, end_time, outcome,
     attempts, run_us, run_max_us, wait_us)
  SELECT $1::int8, d.new_stage, d.new_due, count(*), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL,
         NULL
  FROM done d WHERE d.transition >= 10 GROUP BY d.new_stage, d.new_due
  UNION ALL
  SELECT $1::int8, d.stage, 0, 0, -count(*), count(*) FILTER (WHERE d.transition = 1),
         count(*) FILTER (WHERE d.transition = 3), count(*) FILTER (WHERE d.transition = 5),
         count(*) FILTER (WHERE d.action = 1 AND d.transition >= 10), now(),
         nullif(d.outcome, 6), count(*),
         (sum(date_part('epoch', now() - d.lease_time)) * 1e6)::int8,
         (max(date_part('epoch', now() - d.lease_time)) * 1e6)::int8,
         (sum(greatest(date_part('epoch', d.lease_time - d.schedule_time), 0)) * 1e6)::int8
  FROM done d GROUP BY d.stage, d.outcome
), grouped AS (
  INSERT INTO skiplane.error_delta
    (lane, stage, fingerprint, retrying, failed, seen_time, error_type, error_text, tasks,
     failures)
  SELECT $1::int8, g.stage, g.fingerprint, sum(g.retrying), sum(g.failed), max(g.seen_time),
         (array_agg(g.error_type) FILTER (WHERE g.seen_time IS NOT NULL))[1],
         (array_agg(g.error_text) FILTER (WHERE g.seen_time IS NOT NULL))[1],
         (array_agg(g.task) FILTER (WHERE g.seen_time IS NOT NULL))[1:5], count(g.seen_time)
  FROM (
    SELECT d.stage, d.old_fingerprint AS fingerprint, -1 AS retrying, 0 AS failed,
           NULL::timestamptz AS seen_time,
           NULL AS error_type, NULL::bytea AS error_text, NULL::int8 AS task
    FROM done d WHERE d.old_fingerprint IS NOT NULL AND d.transition <> 14
    UNION ALL
    SELECT d.stage, d.error_fingerprint, (d.waiting_fingerprint IS NOT NULL)::int,
           (d.transition = 3)::int, now(), d.error_type, d.error_text, d.id
    FROM done d WHERE d.error_fingerprint IS NOT NULL AND d.transition <> 14
  ) g
  GROUP BY g.stage, g.fingerprint
), closed AS (
  DELETE FROM skiplane.lease_ledger l
  WHERE l.lane = $1::int8 AND l.ctid = ANY (ARRAY(
    SELECT x.row_location
    FROM unnest($22::uuid[]) AS c(id)
    CROSS JOIN LATERAL (
      SELECT o.ctid AS row_location FROM skiplane.lease_ledger o
      WHERE o.lane = $1::int8 AND o.id = c.id OFFSET 0
    ) x))
)
SELECT d.id, d.lease_number, d.outcome,
       CASE WHEN d.transition < 10 THEN NULL
            WHEN d.again_at = 'infinity' THEN 9223372036854775807
            ELSE (date_part('epoch', d.again_at) * 1e6)::int8 END,
       d.priority, coalesce(d.new_stage, d.stage), (date_part('epoch', now()) * 1e6)::int8
FROM done d
