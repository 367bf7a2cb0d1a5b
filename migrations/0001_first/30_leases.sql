-- Who holds tasks, and what was settled.

-- A running worker process. A heartbeat writes expire_time, which no index holds.
--
-- A heartbeat reads the session and no tasks. So whatever takes a lease from a worker that lives,
-- or wants its task to be cancelled, says so here: a heartbeat looks at the leases that it names up
-- to the number in recheck_until. No list has to be kept, cut or cleared, and a worker that missed
-- an answer is told again by the next one.
CREATE TABLE skiplane.worker_session (
  id             uuid PRIMARY KEY,
  worker_id      text,                       -- its hash; null: one call without a worker
  name           text NOT NULL DEFAULT '',   -- for people
  -- 1 lives; 2 lost: what it holds is taken back, charged; 3 ended by its worker: taken back,
  -- uncharged. A session that is lost or ended never lives again: its worker gets a new row.
  state          smallint NOT NULL DEFAULT 1 CHECK (state IN (1, 2, 3)),
  lease_duration interval NOT NULL,          -- what the worker asked for; also its grace
  expire_time    timestamptz NOT NULL,
  create_time    timestamptz NOT NULL DEFAULT now(),
  recheck_until  bigint NOT NULL DEFAULT 0,  -- leases up to this number are looked at
  end_time       timestamptz,                -- when the call came in that ended the session
  check_time     timestamptz,                -- of an ended one: when upkeep looks next for leases
  -- Task id -> {lane, lease, fraction, message}: what was last reported, and under which lease.
  progress       jsonb,
  CONSTRAINT worker_session_end_check CHECK ((state = 3) = (end_time IS NOT NULL) AND
                                             (state = 3) = (check_time IS NOT NULL))
) WITH (
  -- Heartbeats are HOT updates, whose dead rows the next one clears away: vacuum has little to add.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 2000000000
);

-- A worker has one session that lives: calls find it, or make it, by the worker's id.
CREATE UNIQUE INDEX worker_session_alive ON skiplane.worker_session (worker_id) WHERE state = 1;

-- Serves session_end: the ends of a worker that its calls from before must heed.
CREATE INDEX worker_session_ended ON skiplane.worker_session (worker_id) WHERE state = 3;

-- What sessions hold, to be found if they are lost: one row per lease statement (and per request
-- id), with arrays of equal length. Brokers delete a row when its last task is settled; upkeep
-- folds what is left.
CREATE TABLE skiplane.lease_ledger (
  id            uuid NOT NULL,
  lane          bigint NOT NULL,
  request_id    text,                  -- worker id and request id of the Lease that may be repeated
  sessions      uuid[] NOT NULL,
  tasks         bigint[] NOT NULL,
  lease_numbers bigint[] NOT NULL,
  folds         smallint NOT NULL DEFAULT 0,  -- how often its tasks were folded into a new row
  check_time    timestamptz NOT NULL,  -- when upkeep looks at the row next
  PRIMARY KEY (id, lane)             -- rows are found by their id; a lane alone is no way to them
) WITH (
  -- Rows come and go with each statement, so the heap keeps its end, as that of task does.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off
);

-- Serves lease_get: a Lease that is repeated finds what the earlier call got.
CREATE UNIQUE INDEX lease_ledger_request ON skiplane.lease_ledger (request_id, lane)
  WHERE request_id IS NOT NULL;

-- What was settled in the last hour: one row per settling statement, outcome and transition.
-- Outcomes are those of history, and 6 for released attempts. It is read only for items whose task
-- is gone or changed, and by a broker whose connection broke during the commit of a settlement: it
-- finds out what it did itself, to tell the caller.
CREATE TABLE skiplane.settled (
  lane          bigint NOT NULL,
  settle_time   timestamptz NOT NULL,
  outcome       smallint NOT NULL,
  transition    smallint NOT NULL,   -- what became of the tasks, as in task_settle
  try_id        bigint NOT NULL,     -- drawn by the broker for each try
  lease_numbers bigint[] NOT NULL,
  tasks         bigint[] NOT NULL,
  numbers       int8range NOT NULL,  -- these two span the arrays
  ids           int8range NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Serves lease_status and settled_recall: one index finds the few rows that can hold a lease or a
-- task.
CREATE INDEX settled_ranges ON skiplane.settled USING gist (numbers, ids);
-- Serves settled_expire.
CREATE INDEX settled_time ON skiplane.settled (settle_time, lane);

-- No plan uses the statistics of these columns, and to gather those of arrays was a third of what
-- autovacuum took at 40,000 tasks/s, which was an eighth of PostgreSQL's CPU.
ALTER TABLE skiplane.lease_ledger
  ALTER sessions SET STATISTICS 0, ALTER tasks SET STATISTICS 0,
  ALTER lease_numbers SET STATISTICS 0;
ALTER TABLE skiplane.settled
  ALTER tasks SET STATISTICS 0, ALTER lease_numbers SET STATISTICS 0,
  ALTER numbers SET STATISTICS 0, ALTER ids SET STATISTICS 0;

-- Rows of a few hundred tasks are compressed at each statement: lz4 does it in a fraction of pglz's
-- time, where this server was built with it.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_settings
             WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE skiplane.lease_ledger
      ALTER sessions SET COMPRESSION lz4, ALTER tasks SET COMPRESSION lz4,
      ALTER lease_numbers SET COMPRESSION lz4;
    ALTER TABLE skiplane.settled
      ALTER tasks SET COMPRESSION lz4, ALTER lease_numbers SET COMPRESSION lz4;
  END IF;
END $$;
