-- Serves session_gone, which looks for sessions that were lost or ended, in the order of their ids.
-- Heartbeats change neither column, so that they write no index.
CREATE INDEX worker_session_gone ON skiplane.worker_session (id) WHERE state <> 1;
