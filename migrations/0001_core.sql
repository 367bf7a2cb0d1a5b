-- The core: queues, live tasks, what is known of finished ones, worker sessions and upkeep.
--
-- Written for many-row statements of a few brokers: every key of the task family holds the lane,
-- which is the unit of distribution; an index begins with what its statements name besides it;
-- nothing that a lease writes occurs in any index (so that a lease is a HOT update), and what grows
-- with the finished work lives outside the hot table.
-- Times are the database's clock. State numbers are those of the comments; brokers of two versions
-- share them, so they never change their meaning.

-- Queues and their lanes are few, cached by brokers and never locked by hot statements.
CREATE TABLE skiplane.queue (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  settings    jsonb NOT NULL,
  pause       smallint NOT NULL DEFAULT 0 CHECK (pause BETWEEN 0 AND 3),  -- 1 lease, 2 enqueue
  pause_reason text NOT NULL DEFAULT '',
  version     bigint NOT NULL DEFAULT 1,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE skiplane.queue_lane (
  lane     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue_id bigint NOT NULL REFERENCES skiplane.queue (id),
  ordinal  int NOT NULL,
  UNIQUE (queue_id, ordinal)
);

-- Brokers take blocks of 4,096 numbers, so that an insert needs no answer to know its ids.
CREATE SEQUENCE skiplane.task_id INCREMENT BY 4096 MINVALUE 4096;

-- The hot table: tasks that live. Fillfactor 45 keeps every lease a HOT update, and a fixed
-- autovacuum threshold keeps the dead rows few however large the backlog is.
CREATE TABLE skiplane.task (
  lane         bigint NOT NULL,
  id           bigint NOT NULL,
  run_at       timestamptz NOT NULL,
  created_at   timestamptz NOT NULL,
  lease_no     bigint NOT NULL DEFAULT 0,  -- grows with every lease, never used twice
  leased_at    timestamptz,
  session      uuid,                       -- who holds it (or held it last)
  due          int NOT NULL DEFAULT 0,     -- how counters know it: 0, or run_at in units of 10 s
  attempt      int NOT NULL DEFAULT 0,     -- counted at the lease
  max_attempts int NOT NULL CHECK (max_attempts BETWEEN 1 AND 1000),
  stage        smallint NOT NULL DEFAULT 0,
  priority     smallint NOT NULL DEFAULT 0,
  state        smallint NOT NULL DEFAULT 1 CHECK (state IN (1, 2)),  -- 1 waiting, 2 leased
  key          text,
  content_type text,
  headers      jsonb,
  error_type   text,
  error_print  text,
  error_text   bytea,
  payload      bytea NOT NULL,
  PRIMARY KEY (lane, id)
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 200000,
        autovacuum_vacuum_cost_delay = 0);

-- Serves task_lease, lane_sweep and lane_priorities: the order in which tasks are leased. It begins
-- with the stage, which they all name, so that no plan that knows only the lane can prefer it.
CREATE INDEX task_claim ON skiplane.task (stage, lane, priority, run_at, id);

-- Who holds a key. Outlives the task: the row stays when the task is finished.
CREATE TABLE skiplane.task_key (
  lane        bigint NOT NULL,
  key         text NOT NULL,
  task_id     bigint NOT NULL,
  finished_at timestamptz,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (lane, key)
);

-- Dead letters, by day.
CREATE TABLE skiplane.task_failed (
  lane         bigint NOT NULL,
  id           bigint NOT NULL,
  failed_at    timestamptz NOT NULL,
  run_at       timestamptz NOT NULL,
  created_at   timestamptz NOT NULL,
  lease_no     bigint NOT NULL,
  session      uuid,
  attempt      int NOT NULL,
  max_attempts int NOT NULL,
  stage        smallint NOT NULL,
  priority     smallint NOT NULL,
  key          text,
  content_type text,
  headers      jsonb,
  error_type   text,
  error_print  text,
  error_text   bytea,
  payload      bytea NOT NULL,
  PRIMARY KEY (lane, id, failed_at)
) PARTITION BY RANGE (failed_at);

-- One row per finished attempt, by day. Outcome: 1 acked, 2 retried, 3 failed, 4 lost, 5 cancelled.
CREATE TABLE skiplane.history (
  lane        bigint NOT NULL,
  task_id     bigint NOT NULL,
  finished_at timestamptz NOT NULL,
  leased_at   timestamptz NOT NULL,
  run_at      timestamptz NOT NULL,
  created_at  timestamptz NOT NULL,
  session     uuid,
  attempt     int NOT NULL,
  max_attempts int NOT NULL,
  stage       smallint NOT NULL,
  priority    smallint NOT NULL,
  outcome     smallint NOT NULL CHECK (outcome BETWEEN 1 AND 5),
  is_last     boolean NOT NULL,  -- the task ended with this attempt
  key         text,
  error_type  text,
  error_print text,
  error_text  bytea
) PARTITION BY RANGE (finished_at);

-- Serves task_get and the listing of a task's attempts.
CREATE INDEX history_task ON skiplane.history (lane, task_id);

CREATE TABLE skiplane.task_failed_default PARTITION OF skiplane.task_failed DEFAULT;
CREATE TABLE skiplane.history_default PARTITION OF skiplane.history DEFAULT;

-- A running worker process. Beats write expires_at, which no index holds. State: 1 alive, 2 lost.
-- A lost session never comes back: its worker gets a new row.
CREATE TABLE skiplane.worker_session (
  id         uuid PRIMARY KEY,
  worker_id  text,                -- null: one call without a worker
  name       text NOT NULL DEFAULT '',
  state      smallint NOT NULL DEFAULT 1 CHECK (state IN (1, 2)),
  duration   interval NOT NULL,   -- what the worker asked for; its grace after an outage
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  cancels    bigint[] NOT NULL DEFAULT '{}',  -- ids of tasks whose worker shall stop
  progress   jsonb                -- task id -> {fraction, message}, as last reported
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

CREATE UNIQUE INDEX worker_session_alive ON skiplane.worker_session (worker_id) WHERE state = 1;

-- What lost workers held: one row per lease statement (and per request id), arrays of equal length.
-- Brokers delete a row when its last task is settled; upkeep folds what is left.
CREATE TABLE skiplane.lease_ledger (
  lane       bigint NOT NULL,
  id         uuid NOT NULL,
  request_id text,                -- worker id and request id of the Lease that may be repeated
  sessions   uuid[] NOT NULL,
  tasks      bigint[] NOT NULL,
  lease_nos  bigint[] NOT NULL,
  folds      smallint NOT NULL DEFAULT 0,
  check_at   timestamptz NOT NULL,  -- when upkeep looks at the row next
  PRIMARY KEY (id, lane)            -- rows are found by their id; a lane alone is no way to them
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);

CREATE UNIQUE INDEX lease_ledger_request ON skiplane.lease_ledger (request_id, lane)
  WHERE request_id IS NOT NULL;

-- What was settled in the last hour: one row per settling statement and outcome (as in history;
-- 6 released). Looked at only for items whose task is gone or changed. The two ranges span the
-- arrays, so that one index finds the few rows that can hold a lease or a task.
CREATE TABLE skiplane.settled (
  lane       bigint NOT NULL,
  settled_at timestamptz NOT NULL,
  outcome    smallint NOT NULL,
  lease_nos  bigint[] NOT NULL,
  tasks      bigint[] NOT NULL,
  numbers    int8range NOT NULL,
  ids        int8range NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX settled_ranges ON skiplane.settled USING gist (numbers, ids);
CREATE INDEX settled_age ON skiplane.settled (settled_at, lane);

-- Answered Enqueue calls that carried a request id. The ids of a call are contiguous.
CREATE TABLE skiplane.request (
  lane       bigint NOT NULL,
  request_id text NOT NULL,
  body_hash  bytea NOT NULL,
  first_id   bigint NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (lane, request_id)
);

CREATE INDEX request_age ON skiplane.request (created_at, lane);

-- Exact counts. Every statement that changes a state appends what it changed; upkeep folds the
-- deltas into one row per lane, stage and due time, so that no transaction waits for another.
CREATE TABLE skiplane.counter_delta (
  lane      bigint NOT NULL,
  stage     smallint NOT NULL,
  due       int NOT NULL,
  waiting   bigint NOT NULL DEFAULT 0,
  leased    bigint NOT NULL DEFAULT 0,
  succeeded bigint NOT NULL DEFAULT 0,
  failed    bigint NOT NULL DEFAULT 0,
  cancelled bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE skiplane.counter (
  lane      bigint NOT NULL,
  stage     smallint NOT NULL,
  due       int NOT NULL,          -- 0: due since it was written; else run_at in units of 10 s
  waiting   bigint NOT NULL,
  leased    bigint NOT NULL,
  succeeded bigint NOT NULL,
  failed    bigint NOT NULL,
  cancelled bigint NOT NULL,
  PRIMARY KEY (lane, stage, due)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0);

-- Who does the chores now, and when the dead were last looked for.
CREATE TABLE skiplane.upkeep_lease (
  name       text PRIMARY KEY,
  holder     uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  reclaimed_at timestamptz NOT NULL DEFAULT '-infinity'
);

-- The brokers that run, so that each knows whether there is somebody to send hints to.
CREATE TABLE skiplane.broker (
  id         uuid PRIMARY KEY,
  name       text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Makes the partitions of the next days. Safe to call at any time by several brokers.
CREATE FUNCTION skiplane.make_partitions(days_ahead int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  made int := 0;
  parent text;
  first date := (now() AT TIME ZONE 'UTC')::date;
  part text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['history', 'task_failed'] LOOP
    FOR i IN 0..days_ahead LOOP
      part := format('%s_%s', parent, to_char(first + i, 'YYYYMMDD'));
      IF to_regclass('skiplane.' || part) IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtext('skiplane.make_partitions'));
        -- A day whose rows went to the default partition already stays there: it must not keep the
        -- later days from theirs.
        BEGIN
          EXECUTE format(
            'CREATE TABLE IF NOT EXISTS skiplane.%I PARTITION OF skiplane.%I '
            'FOR VALUES FROM (%L) TO (%L)',
            part, parent, (first + i)::timestamp AT TIME ZONE 'UTC',
            (first + i + 1)::timestamp AT TIME ZONE 'UTC');
          made := made + 1;
        EXCEPTION WHEN check_violation THEN NULL;
        END;
      END IF;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;

SELECT skiplane.make_partitions(7);
