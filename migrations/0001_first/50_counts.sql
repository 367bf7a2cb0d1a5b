-- Counts, statistics by hour, and groups of errors. Every statement that changes a state appends
-- what it changed; upkeep folds the deltas into few rows. So no transaction waits for another one
-- to count, and the sum of counters and deltas is exact in any snapshot.

-- What one statement changed. Statements that end attempts also write what became of them, for the
-- statistics by hour; enqueues that the database tells the brokers of, what such a notification
-- needs. Both are null in all other rows.
CREATE TABLE skiplane.counter_delta (
  lane        bigint NOT NULL,
  stage       smallint NOT NULL,
  due         int NOT NULL,               -- as in task
  waiting     bigint NOT NULL DEFAULT 0,
  leased      bigint NOT NULL DEFAULT 0,
  succeeded   bigint NOT NULL DEFAULT 0,
  failed      bigint NOT NULL DEFAULT 0,
  cancelled   bigint NOT NULL DEFAULT 0,
  moved       bigint NOT NULL DEFAULT 0,  -- acked, and the task lives on: a stage, a period
  end_time    timestamptz,                -- when the attempts ended
  outcome     smallint,                   -- how, as in history
  attempts    bigint,
  run_us      bigint,
  run_max_us  bigint,
  wait_us     bigint,
  priority    smallint,
  notify_time timestamptz                 -- the least schedule time: for notify_brokers
) WITH (
  -- Rows live for seconds: dead ones go often, new ones need no vacuum of their own, and the heap
  -- keeps its end, as that of task does.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_cost_delay = 0,
  vacuum_truncate = off
);

-- Serves counter_fold: with many lanes the fold of one must not read what the others left.
CREATE INDEX counter_delta_lane ON skiplane.counter_delta (lane);

-- The folded deltas.
CREATE TABLE skiplane.counter (
  lane      bigint NOT NULL,
  stage     smallint NOT NULL,
  due       int NOT NULL,  -- 0: due since it was written; else schedule_time in units of 10 s
  waiting   bigint NOT NULL,
  leased    bigint NOT NULL,
  succeeded bigint NOT NULL,
  failed    bigint NOT NULL,
  cancelled bigint NOT NULL,
  moved     bigint NOT NULL,
  PRIMARY KEY (lane, stage, due)
) WITH (
  -- Folding updates the same few rows all the time: by HOT updates, and vacuumed early.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);

-- What became of attempts, by the hour in which they ended.
CREATE TABLE skiplane.hour_statistics (
  lane       bigint NOT NULL,
  hour       timestamptz NOT NULL,
  stage      smallint NOT NULL,
  outcome    smallint NOT NULL,
  attempts   bigint NOT NULL,
  run_us     bigint NOT NULL,
  run_max_us bigint NOT NULL,
  wait_us    bigint NOT NULL,
  PRIMARY KEY (lane, hour, stage, outcome)
) WITH (fillfactor = 70);  -- the rows of the current hour are updated

-- What one statement changed in error groups. The sample is the last one seen.
CREATE TABLE skiplane.error_delta (
  lane        bigint NOT NULL,
  stage       smallint NOT NULL,
  fingerprint text NOT NULL,
  retrying    bigint NOT NULL DEFAULT 0,
  failed      bigint NOT NULL DEFAULT 0,
  seen_time   timestamptz,  -- null: nothing was seen, tasks only left the group
  error_type  text,
  error_text  bytea,
  tasks       bigint[]
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);

-- Serves error_fold, as counter_delta_lane does counter_fold.
CREATE INDEX error_delta_lane ON skiplane.error_delta (lane);

-- Failures that are the same fault: those of one lane and stage with the same fingerprint.
CREATE TABLE skiplane.error_group (
  lane            bigint NOT NULL,
  stage           smallint NOT NULL,
  fingerprint     text NOT NULL,    -- the fingerprint
  retrying        bigint NOT NULL,  -- tasks that wait or run again
  failed          bigint NOT NULL,  -- tasks in task_failed
  first_seen_time timestamptz NOT NULL,
  last_seen_time  timestamptz NOT NULL,
  error_type      text,             -- this and the next two are of the last failures
  error_text      bytea,
  tasks           bigint[] NOT NULL,
  PRIMARY KEY (lane, stage, fingerprint)
);
