-- Packs: many ordinary tasks in one row. Reasons and figures: docs/adr/2026-11-27-packs.md.
--
-- Whoever treats a task by itself (retries it, cancels it, takes it back) moves it into a row of
-- task first. So a packed task never ran before, begins at the first stage, was ready when it was
-- made, and has neither key, schedule, version nor error.

-- Task i of a pack has the id of the pack plus i, from 0 on. All of its tasks wait, or all are
-- leased: what a lease leaves of a pack becomes one of its own, or rows. So whatever locks a leased
-- task locks none that waits. Its task_pack_order is in the order of leases as that of task.
CREATE TABLE skiplane.task_pack (
  lane          bigint NOT NULL,
  id            bigint NOT NULL,
  schedule_time timestamptz NOT NULL,         -- of all
  create_time   timestamptz NOT NULL,
  gone          bigint NOT NULL DEFAULT 0,    -- bit i: task i was settled, or has a row of its own
  max_attempts  int NOT NULL CHECK (max_attempts BETWEEN 1 AND 1000),
  bytes         int NOT NULL,                 -- of payloads and headers
  task_count    smallint NOT NULL CHECK (task_count BETWEEN 1 AND 64),
  state         smallint NOT NULL DEFAULT 1 CHECK (state IN (1, 2)),  -- as of task
  priority      smallint NOT NULL DEFAULT 0,
  -- One element each per lease: bit i of the mask says that task i is part of it.
  sessions      uuid[] NOT NULL DEFAULT '{}',
  lease_numbers bigint[] NOT NULL DEFAULT '{}',
  masks         bigint[] NOT NULL DEFAULT '{}',
  -- One element per task, and others of tasks that left at a lease; null: none has any.
  content_types text[],
  headers       jsonb[],
  payloads      bytea[] NOT NULL,
  PRIMARY KEY (lane, id),
  CHECK ((state = 1) = (sessions = '{}')),
  CHECK (cardinality(sessions) = cardinality(masks) AND
         cardinality(lease_numbers) = cardinality(masks))
) WITH (
  -- As of task: each lease and each ack that leaves something is a HOT update.
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000000000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 50000,
  toast.autovacuum_vacuum_cost_delay = 0, toast.vacuum_truncate = off
);

-- Serves task_lease_packed and the probes. Who does not name the priority cannot take it:
-- docs/adr/2026-11-27-plans-of-empty-tables.md
CREATE INDEX task_pack_order ON skiplane.task_pack (lane, priority, schedule_time, id)
  WHERE priority IS NOT NULL;

-- One row per statement that acked tasks of a pack: what history has of others. Masks as above.
CREATE TABLE skiplane.pack_history (
  lane          bigint NOT NULL,
  id            bigint NOT NULL,              -- of the pack
  expire_time   timestamptz NOT NULL,
  end_time      timestamptz NOT NULL,
  schedule_time timestamptz NOT NULL,
  create_time   timestamptz NOT NULL,
  max_attempts  int NOT NULL,
  priority      smallint NOT NULL,
  sessions      uuid[] NOT NULL,
  lease_numbers bigint[] NOT NULL,
  masks         bigint[] NOT NULL
) PARTITION BY RANGE (expire_time);

CREATE INDEX pack_history_pack ON skiplane.pack_history (lane, id, end_time);
CREATE TABLE skiplane.pack_history_default PARTITION OF skiplane.pack_history DEFAULT;

-- Brokers before 0.2 do not say so: as long as one of them runs, nobody makes packs.
ALTER TABLE skiplane.broker ADD COLUMN reads_packs boolean NOT NULL DEFAULT false;

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_settings
             WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE skiplane.task_pack
      ALTER payloads SET COMPRESSION lz4, ALTER headers SET COMPRESSION lz4,
      ALTER content_types SET COMPRESSION lz4;
  END IF;
END $$;
