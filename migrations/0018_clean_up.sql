-- Serves error_clean, which looks for error groups without tasks, the longest unseen first. Folds
-- of groups are no HOT updates any more: one row per group and fold, every two seconds at most.
CREATE INDEX error_group_empty ON skiplane.error_group (lane, last_seen_time)
  WHERE retrying = 0 AND failed = 0;

-- Serves session_unused, which looks for sessions of single calls, in the order of their ids.
-- Heartbeats change neither column.
CREATE INDEX worker_session_single ON skiplane.worker_session (id)
  WHERE worker_id IS NULL AND state = 1;
