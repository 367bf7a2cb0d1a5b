-- What operators see of queues and brokers.

-- How long attempts waited and ran, by minute; kept for two days. Times are counts of buckets, as
-- server/model/time_histogram.h has them. Each broker writes rows of its own, and never twice the
-- same ones: `part` is drawn for what it writes at once.
CREATE TABLE skiplane.minute_statistics (
  lane       bigint NOT NULL,
  minute     timestamptz NOT NULL,  -- when it began
  part       bigint NOT NULL,
  stage      smallint NOT NULL,
  run_first  smallint NOT NULL,     -- bucket of the first count
  wait_first smallint NOT NULL,
  runs       int[] NOT NULL,        -- attempts that workers settled, by time from lease to end
  waits      int[] NOT NULL,        -- attempts that began, by time from ready to lease
  PRIMARY KEY (lane, minute, part, stage)
) WITH (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_vacuum_cost_delay = 0
);

-- Which brokers run: brokers before 0.2 say no version.
ALTER TABLE skiplane.broker ADD COLUMN version text NOT NULL DEFAULT '',
  ADD COLUMN start_time timestamptz;  -- null: it ran before this version of the schema
ALTER TABLE skiplane.broker ALTER COLUMN start_time SET DEFAULT now();
