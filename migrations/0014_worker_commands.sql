-- What operators see of a worker, and ask of it. Brokers of before go on beside: they write none of
-- these columns.
--
-- A command needs no notification and no statement of its own to reach its worker: each statement
-- that moves the session's end reads the row, and tells it.
ALTER TABLE skiplane.worker_session
  ADD client_version text NOT NULL DEFAULT '',  -- as the worker says it; empty: it says nothing
  ADD concurrency integer NOT NULL DEFAULT 0,   -- tasks at once, as it says; 0: it says nothing
  -- 1 run; 2 quiet: take no more tasks; 3 stop.
  ADD command smallint NOT NULL DEFAULT 1 CHECK (command IN (1, 2, 3));

CREATE OR REPLACE VIEW skiplane.workers AS
SELECT s.name, skiplane.worker_handle(s.id) AS worker_handle,
       ('{alive,lost,ended}'::text[])[s.state] AS state,
       s.lease_duration, s.create_time, s.expire_time,
       s.client_version, s.concurrency, ('{run,quiet,stop}'::text[])[s.command] AS command
FROM skiplane.worker_session s;
