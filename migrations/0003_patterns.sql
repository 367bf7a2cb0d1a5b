-- What hand-made queue tables are asked to do: pipelines, periodic tasks, re-runs when the source
-- changed, error groups, statistics by hour, operators' changes in bulk with their audit, and
-- retention by queue.
--
-- Columns of ordinary tasks stay null and cost nothing in their rows. None of them is in an index.

ALTER TABLE skiplane.task
  ADD version    bigint,       -- of the content, as its producer counts; null: none
  ADD rerun      boolean,      -- true: newer content came while the task ran; it runs once more
  ADD cancel     boolean,      -- true: an operator wants the task to end with its attempt
  ADD period     bigint,       -- microseconds between planned times
  ADD cron       text,         -- or the schedule of planned times,
  ADD time_zone  text,         --   by the clock of this zone
  ADD planned_at timestamptz,  -- the planned time of the run that waits or is on its way
  ADD run_all    boolean,      -- true: missed planned times are run, too
  ADD paused     boolean,      -- true: no run but a triggered one; run_at is infinity
  ADD CHECK ((period IS NULL OR cron IS NULL) AND
             (planned_at IS NULL) = (period IS NULL AND cron IS NULL));

-- How counters know a task that waits for a time, as of `at`.
CREATE FUNCTION skiplane.due_of(run_at timestamptz, at timestamptz) RETURNS int
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN run_at <= at THEN 0
              WHEN run_at = 'infinity' THEN 2147483647
              ELSE ceil(date_part('epoch', run_at) / 10)::int END
$$;

-- Breaks a statement off that met a change it cannot go on from: its caller repeats it.
CREATE FUNCTION skiplane.conflict() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a task changed during the statement' USING ERRCODE = '40001';
END $$;

-- Breaks a statement off that found a key which must not exist.
CREATE FUNCTION skiplane.key_exists() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a key exists' USING ERRCODE = '23505';
END $$;

-- Task id and lease number, one after the other, of leases whose worker shall stop.
COMMENT ON COLUMN skiplane.worker_session.cancels IS 'task, lease number, task, lease number, …';

ALTER TABLE skiplane.task_key ADD version bigint;

-- Serves key_expire: keys of finished tasks by age.
CREATE INDEX task_key_finished ON skiplane.task_key (finished_at, lane)
  WHERE finished_at IS NOT NULL;

-- History and dead letters again, in partitions of the day on which rows expire: queues keep them
-- for different times, and each day goes as a whole. What was kept until now moves over, about ten
-- million rows a minute.
ALTER TABLE skiplane.history RENAME TO history_old;
ALTER TABLE skiplane.task_failed RENAME TO task_failed_old;
ALTER INDEX skiplane.history_task RENAME TO history_old_task;
ALTER INDEX skiplane.task_failed_pkey RENAME TO task_failed_old_pkey;
DO $$
DECLARE part text;
BEGIN
  FOR part IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
              WHERE i.inhparent IN ('skiplane.history_old'::regclass,
                                    'skiplane.task_failed_old'::regclass) LOOP
    EXECUTE format('ALTER TABLE skiplane.%I RENAME TO %I', part, 'old_' || part);
  END LOOP;
END $$;

-- One row per finished attempt. Outcome: 1 acked, 2 retried, 3 failed, 4 lost, 5 cancelled,
-- 7 hanged.
CREATE TABLE skiplane.history (
  lane         bigint NOT NULL,
  task_id      bigint NOT NULL,
  -- The default is for brokers of the version before.
  expires_at   timestamptz NOT NULL DEFAULT now() + interval '7 days',
  finished_at  timestamptz NOT NULL,
  leased_at    timestamptz,           -- null: cancelled while it waited
  run_at       timestamptz NOT NULL,
  created_at   timestamptz NOT NULL,
  session      uuid,
  attempt      int NOT NULL,
  max_attempts int NOT NULL,
  stage        smallint NOT NULL,
  priority     smallint NOT NULL,
  outcome      smallint NOT NULL CHECK (outcome IN (1, 2, 3, 4, 5, 7)),
  is_last      boolean NOT NULL,      -- the task ended with this attempt
  version      bigint,
  key          text,
  error_type   text,
  error_print  text,
  error_text   bytea,
  payload      bytea,                 -- if the queue keeps payloads
  result       bytea                  -- if the queue keeps results
) PARTITION BY RANGE (expires_at);

-- Serves task_get and attempt_list.
CREATE INDEX history_task ON skiplane.history (lane, task_id, finished_at);

-- Dead letters.
CREATE TABLE skiplane.task_failed (
  lane         bigint NOT NULL,
  id           bigint NOT NULL,
  expires_at   timestamptz NOT NULL DEFAULT now() + interval '30 days',
  failed_at    timestamptz NOT NULL,
  run_at       timestamptz NOT NULL,
  created_at   timestamptz NOT NULL,
  lease_no     bigint NOT NULL,
  session      uuid,
  attempt      int NOT NULL,
  max_attempts int NOT NULL,
  stage        smallint NOT NULL,
  priority     smallint NOT NULL,
  version      bigint,
  key          text,
  content_type text,
  headers      jsonb,
  error_type   text,
  error_print  text,
  error_text   bytea,
  payload      bytea NOT NULL,
  PRIMARY KEY (lane, id, expires_at)
) PARTITION BY RANGE (expires_at);

CREATE TABLE skiplane.history_default PARTITION OF skiplane.history DEFAULT;
CREATE TABLE skiplane.task_failed_default PARTITION OF skiplane.task_failed DEFAULT;

-- Makes the partitions of the days on which rows will expire that are written from today to
-- days_ahead days from now. Safe to call at any time by several brokers.
CREATE OR REPLACE FUNCTION skiplane.make_partitions(days_ahead int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  made int := 0;
  day record;
BEGIN
  FOR day IN
    SELECT DISTINCT k.parent, d::date AS first,
           format('%s_%s', k.parent, to_char(d, 'YYYYMMDD')) AS part
    FROM (
      SELECT 'history' AS parent, 7 AS days
      UNION SELECT 'task_failed', 30
      UNION SELECT 'history', (q.settings ->> 'history_days')::int FROM skiplane.queue q
            WHERE q.settings ? 'history_days'
      UNION SELECT 'task_failed', (q.settings ->> 'failed_days')::int FROM skiplane.queue q
            WHERE q.settings ? 'failed_days'
    ) k
    CROSS JOIN generate_series((now() AT TIME ZONE 'UTC')::date + k.days,
                               (now() AT TIME ZONE 'UTC')::date + k.days + days_ahead,
                               interval '1 day') AS d
    ORDER BY 1, 2
  LOOP
    CONTINUE WHEN to_regclass('skiplane.' || day.part) IS NOT NULL;
    PERFORM pg_advisory_xact_lock(hashtext('skiplane.make_partitions'));
    -- A day whose rows went to the default partition already stays there: it must not keep the
    -- later days from theirs.
    BEGIN
      EXECUTE format(
        'CREATE TABLE IF NOT EXISTS skiplane.%I PARTITION OF skiplane.%I '
        'FOR VALUES FROM (%L) TO (%L)',
        day.part, day.parent, day.first::timestamp AT TIME ZONE 'UTC',
        (day.first + 1)::timestamp AT TIME ZONE 'UTC');
      made := made + 1;
    EXCEPTION WHEN check_violation THEN NULL;
    END;
  END LOOP;
  RETURN made;
END $$;

SELECT skiplane.make_partitions(7);

INSERT INTO skiplane.history
  (lane, task_id, expires_at, finished_at, leased_at, run_at, created_at, session, attempt,
   max_attempts, stage, priority, outcome, is_last, key, error_type, error_print, error_text)
SELECT h.lane, h.task_id, h.finished_at + interval '7 days', h.finished_at, h.leased_at, h.run_at,
       h.created_at, h.session, h.attempt, h.max_attempts, h.stage, h.priority, h.outcome,
       h.is_last, h.key, h.error_type, h.error_print, h.error_text
FROM skiplane.history_old h;

INSERT INTO skiplane.task_failed
  (lane, id, expires_at, failed_at, run_at, created_at, lease_no, session, attempt, max_attempts,
   stage, priority, key, content_type, headers, error_type, error_print, error_text, payload)
SELECT f.lane, f.id, f.failed_at + interval '30 days', f.failed_at, f.run_at, f.created_at,
       f.lease_no, f.session, f.attempt, f.max_attempts, f.stage, f.priority, f.key,
       f.content_type, f.headers, f.error_type, f.error_print, f.error_text, f.payload
FROM skiplane.task_failed_old f;

DROP TABLE skiplane.history_old, skiplane.task_failed_old;

-- What became of attempts, by hour: appended with the counts by the statement that ends them, and
-- folded with them. Null in deltas that end no attempt.
ALTER TABLE skiplane.counter_delta
  ADD moved    bigint NOT NULL DEFAULT 0,  -- acked, and the task lives on: a stage, a period
  ADD at       timestamptz,
  ADD outcome  smallint,
  ADD attempts bigint,
  ADD run_us   bigint,
  ADD run_max_us bigint,
  ADD wait_us  bigint;

ALTER TABLE skiplane.counter ADD moved bigint NOT NULL DEFAULT 0;

CREATE TABLE skiplane.stat_hour (
  lane       bigint NOT NULL,
  hour       timestamptz NOT NULL,
  stage      smallint NOT NULL,
  outcome    smallint NOT NULL,
  attempts   bigint NOT NULL,
  run_us     bigint NOT NULL,
  run_max_us bigint NOT NULL,
  wait_us    bigint NOT NULL,
  PRIMARY KEY (lane, hour, stage, outcome)
) WITH (fillfactor = 70);

-- Failures that are the same fault. Deltas as for counters: the sample is the last one seen.
CREATE TABLE skiplane.error_delta (
  lane       bigint NOT NULL,
  stage      smallint NOT NULL,
  print      text NOT NULL,
  retrying   bigint NOT NULL DEFAULT 0,
  failed     bigint NOT NULL DEFAULT 0,
  seen_at    timestamptz,              -- null: nothing was seen, tasks only left the group
  error_type text,
  error_text bytea,
  tasks      bigint[]
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);

CREATE INDEX error_delta_lane ON skiplane.error_delta (lane);

CREATE TABLE skiplane.error_group (
  lane       bigint NOT NULL,
  stage      smallint NOT NULL,
  print      text NOT NULL,
  retrying   bigint NOT NULL,
  failed     bigint NOT NULL,
  first_seen timestamptz NOT NULL,
  last_seen  timestamptz NOT NULL,
  error_type text,
  error_text bytea,
  tasks      bigint[] NOT NULL,
  PRIMARY KEY (lane, stage, print)
);

-- Forgets a day of history or of dead letters that is over, at most one per call; returns its name.
-- The lock that this needs is waited for so shortly that nobody behind it notices; an error 55P03
-- says to try later. Dead letters that go leave their error groups.
CREATE FUNCTION skiplane.drop_partition() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  part text;
BEGIN
  SELECT c.relname INTO part
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent IN ('skiplane.history'::regclass, 'skiplane.task_failed'::regclass)
    AND c.relname ~ '_[0-9]{8}$'
    AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date
  ORDER BY c.relname LIMIT 1;
  IF part IS NULL THEN RETURN NULL; END IF;
  IF part LIKE 'task_failed%' THEN
    EXECUTE format(
      'INSERT INTO skiplane.error_delta (lane, stage, print, failed) '
      'SELECT f.lane, f.stage, f.error_print, -count(*) FROM skiplane.%I f '
      'WHERE f.error_print IS NOT NULL GROUP BY f.lane, f.stage, f.error_print', part);
  END IF;
  PERFORM set_config('lock_timeout', '50ms', true);
  EXECUTE format('DROP TABLE skiplane.%I', part);
  RETURN part;
END $$;

-- Changes of many tasks in small steps, by whichever broker has time. State: 1 running, 2 done,
-- 3 stopped. Phase 1 goes through the living tasks of each lane by their ids, phase 2 through the
-- failed ones.
CREATE TABLE skiplane.bulk_operation (
  id         uuid PRIMARY KEY,
  queue_id   bigint NOT NULL,
  request    jsonb NOT NULL,           -- filter and action
  dry_run    boolean NOT NULL,
  state      smallint NOT NULL DEFAULT 1 CHECK (state BETWEEN 1 AND 3),
  lanes      bigint[] NOT NULL,        -- still to be gone through, the first one being at hand
  phase      smallint NOT NULL DEFAULT 1,
  after_id   bigint NOT NULL DEFAULT 0,
  scanned    bigint NOT NULL DEFAULT 0,
  matched    bigint NOT NULL DEFAULT 0,
  changed    bigint NOT NULL DEFAULT 0,
  total      bigint NOT NULL DEFAULT 0,
  actor      text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE INDEX bulk_operation_age ON skiplane.bulk_operation (created_at);

-- Who changed what.
CREATE TABLE skiplane.audit (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT now(),
  actor   text NOT NULL,
  method  text NOT NULL,
  queue   text NOT NULL,
  request jsonb NOT NULL,
  changed bigint NOT NULL
);

CREATE INDEX audit_queue ON skiplane.audit (queue, id);
