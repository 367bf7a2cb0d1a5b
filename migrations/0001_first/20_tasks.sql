-- Tasks: those that live, their keys, those that failed, and the attempts that ended.

-- Brokers take blocks of 4,096 numbers, so that an insert needs no answer to know its ids. Tasks
-- that are made by SQL have a range of their own: a block for each transaction would be a waste,
-- and no number may be in use twice. The first range ends with the last block below 2^52, so that
-- both are exact in a double.
CREATE SEQUENCE skiplane.task_id INCREMENT BY 4096 MINVALUE 4096 MAXVALUE 4503599627366400;
CREATE SEQUENCE skiplane.task_id_sql MINVALUE 4503599627370496 MAXVALUE 9007199254740991;

-- The hot table: tasks that live. Wide columns of fixed length come first, then narrow ones, then
-- those of any length: so alignment wastes no space. What only some tasks have is null in the
-- others and takes no room in their rows.
CREATE TABLE skiplane.task (
  lane              bigint NOT NULL,
  id                bigint NOT NULL,
  schedule_time     timestamptz NOT NULL,
  create_time       timestamptz NOT NULL,
  lease_number      bigint NOT NULL DEFAULT 0,  -- grows with every lease, never used twice
  lease_time        timestamptz,
  planned_time      timestamptz,             -- of the run that waits or is on its way
  version           bigint,                  -- of the content, as its producer counts; null: none
  period            bigint,                  -- microseconds between planned times
  session           uuid,                    -- who holds it, or held it last
  due               int NOT NULL DEFAULT 0,  -- for counters: 0, or schedule_time / 10 s
  attempt           int NOT NULL DEFAULT 0,  -- counted at the lease
  max_attempts      int NOT NULL CHECK (max_attempts BETWEEN 1 AND 1000),
  own_max_attempts  int,                     -- while max_attempts is that of a stage: what it was
                                             --   before, and will be in the next run
  stage             smallint NOT NULL DEFAULT 0,
  priority          smallint NOT NULL DEFAULT 0,
  state             smallint NOT NULL DEFAULT 1 CHECK (state IN (1, 2)),  -- 1 waiting, 2 leased
  catch_up          smallint CHECK (catch_up = 2),  -- 2: missed times are run, too; null: skipped
  rerun_pending     boolean,                 -- true: newer content came while it ran
  cancel_requested  boolean,                 -- true: an operator ends the task with its attempt
  paused            boolean,                 -- true: no run but a triggered one; schedule_time
                                             --   is infinity
  key               text,
  content_type      text,
  headers           jsonb,
  cron              text,                    -- instead of a period: the schedule of planned times,
  time_zone         text,                    --   by the clock of this zone
  error_type        text,
  error_fingerprint text,                    -- fingerprint of the last error
  error_text        bytea,
  last_progress     jsonb,                   -- {fraction, message}: of an earlier attempt
  own_content_type  text,                    -- while a periodic task has the content of a stage:
  own_headers       jsonb,                   --   what its next run gets;
  own_payload       bytea,                   --   null here: the content is its own
  payload           bytea NOT NULL,
  PRIMARY KEY (lane, id),
  -- Whoever has a planned time can compute the next one, and in one way only.
  CHECK ((period IS NULL OR cron IS NULL) AND
         (planned_time IS NULL) = (period IS NULL AND cron IS NULL))
) WITH (
  -- Room for the next version of each row in its page: every lease is a HOT update.
  fillfactor = 45,
  -- Fixed thresholds keep the dead rows few however large the backlog is.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000,
  autovacuum_vacuum_cost_delay = 0,
  -- The heap grows and shrinks with the backlog: giving its end back takes a lock that stops every
  -- caller, and the next tasks extend the file again.
  vacuum_truncate = off,
  -- Never analysed, as the brokers' plans do not depend on statistics.
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000000000
);

-- Serves task_lease, lane_probe and lane_priorities: the order in which tasks are leased. It begins
-- with the stage, which they all name, so that no plan that knows only the lane can prefer it.
CREATE INDEX task_lease_order ON skiplane.task (stage, lane, priority, schedule_time, id);

-- Who holds a key. The row outlives the task, so that a key stays known while the queue keeps its
-- history.
CREATE TABLE skiplane.task_key (
  lane        bigint NOT NULL,
  key         text NOT NULL,
  task_id     bigint NOT NULL,
  version     bigint,       -- of the content that the task got last
  end_time    timestamptz,  -- null: the task lives
  create_time timestamptz NOT NULL DEFAULT now(),
  end_state   smallint,     -- 4 succeeded, 5 failed, 6 cancelled; null: the task lives
  PRIMARY KEY (lane, key)
);

-- Serves key_expire: keys of finished tasks by age.
CREATE INDEX task_key_finished ON skiplane.task_key (end_time, lane)
  WHERE end_time IS NOT NULL;

-- Tasks that failed for good, with their payloads. Like history it has a partition for each day on
-- which rows expire: queues keep rows for different times, and a day goes as a whole.
CREATE TABLE skiplane.task_failed (
  lane              bigint NOT NULL,
  id                bigint NOT NULL,
  expire_time       timestamptz NOT NULL,
  end_time          timestamptz NOT NULL,
  schedule_time     timestamptz NOT NULL,
  create_time       timestamptz NOT NULL,
  lease_number      bigint NOT NULL,  -- the next lease has a greater one
  session           uuid,
  attempt           int NOT NULL,
  max_attempts      int NOT NULL,
  stage             smallint NOT NULL,
  priority          smallint NOT NULL,
  version           bigint,
  key               text,
  content_type      text,
  headers           jsonb,
  error_type        text,
  error_fingerprint text,
  error_text        bytea,
  last_progress     jsonb,
  payload           bytea NOT NULL,
  PRIMARY KEY (lane, id, expire_time)       -- which must hold what partitions go by
) PARTITION BY RANGE (expire_time);

-- One row per attempt that ended, as the queue's policy has it. Outcome: 1 acked, 2 retried,
-- 3 failed, 4 lost, 5 cancelled, 7 hanged; 6 is that of released attempts in settled.
CREATE TABLE skiplane.history (
  lane              bigint NOT NULL,
  task_id           bigint NOT NULL,
  expire_time       timestamptz NOT NULL,
  end_time          timestamptz NOT NULL,
  lease_time        timestamptz,           -- null: cancelled while it waited
  schedule_time     timestamptz NOT NULL,
  create_time       timestamptz NOT NULL,  -- of the task
  session           uuid,
  attempt           int NOT NULL,
  max_attempts      int NOT NULL,
  stage             smallint NOT NULL,
  priority          smallint NOT NULL,
  outcome           smallint NOT NULL CHECK (outcome IN (1, 2, 3, 4, 5, 7)),
  ends_task         boolean NOT NULL,      -- the task ended with this attempt
  version           bigint,
  key               text,
  error_type        text,
  error_fingerprint text,
  error_text        bytea,
  payload           bytea,                 -- if the queue keeps payloads
  result            bytea                  -- if the queue keeps results
) PARTITION BY RANGE (expire_time);

-- Serves task_get and attempt_list.
CREATE INDEX history_task ON skiplane.history (lane, task_id, end_time);

-- For rows whose day has no partition: nothing is refused when upkeep is late.
CREATE TABLE skiplane.history_default PARTITION OF skiplane.history DEFAULT;
CREATE TABLE skiplane.task_failed_default PARTITION OF skiplane.task_failed DEFAULT;
