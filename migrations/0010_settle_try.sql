-- A broker whose connection broke during the commit of a settlement finds out what it did itself,
-- to tell the caller. A few bytes per statement, none per task.
ALTER TABLE skiplane.settled
  ADD COLUMN try_id bigint NOT NULL DEFAULT 0,  -- drawn by the broker for each try
  ADD COLUMN fate smallint NOT NULL DEFAULT 0;  -- what became of the tasks, as in task_settle
