-- Heartbeats that tell the truth, and workers that end their session themselves.
--
-- A heartbeat reads the session and no tasks. So whatever takes a lease from a worker that lives,
-- or wants its task to be cancelled, says so in the session's row: beats look at the leases that
-- they name up to the number that stands there. No list has to be kept, cut or cleared, and a beat
-- whose answer got lost is told again by the next one.

ALTER TABLE skiplane.worker_session
  ADD recheck_until bigint NOT NULL DEFAULT 0,  -- leases up to this number are looked at by beats
  ADD ended_at timestamptz,   -- when the call came in that ended the session
  ADD check_at timestamptz,   -- of an ended session: when upkeep looks next for what it holds
  DROP CONSTRAINT worker_session_state_check,
  -- 1 lives; 2 lost: what it holds is taken back, charged; 3 ended by its worker: taken back,
  -- uncharged.
  ADD CONSTRAINT worker_session_state_check CHECK (state IN (1, 2, 3)),
  ADD CONSTRAINT worker_session_end_check CHECK ((state = 3) = (ended_at IS NOT NULL) AND
                                                 (state = 3) = (check_at IS NOT NULL));

COMMENT ON COLUMN skiplane.worker_session.cancels IS
  'written by brokers of the version before: task, lease number, task, lease number, …';

-- Serves session_end: the ends of a worker that its calls from before must heed.
CREATE INDEX worker_session_ended ON skiplane.worker_session (worker_id) WHERE state = 3;

CREATE OR REPLACE VIEW skiplane.workers AS
SELECT s.name AS worker, ('{alive,lost,ended}'::text[])[s.state] AS state,
       s.duration AS lease_duration, s.created_at, s.expires_at
FROM skiplane.worker_session s;
