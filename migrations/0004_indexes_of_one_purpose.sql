-- A plan may be made when PostgreSQL has last counted a table as empty. Then every index looks as
-- cheap as any other, and a statement that looks for single rows could search all of an index whose
-- first column it does not name. Such a plan stays until vacuum counts the table again. So an index
-- that is not the primary key holds, as far as PostgreSQL knows, only rows with its first column:
-- whoever does not name that column cannot take it.
-- docs/adr/2026-11-27-plans-of-empty-tables.md
--
-- The tables come in the order in which statements lock them, as in version 3.
DROP INDEX skiplane.task_lease_order;
CREATE INDEX task_lease_order ON skiplane.task (stage, lane, priority, schedule_time, id)
  WHERE stage IS NOT NULL;
DROP INDEX skiplane.settled_time;
CREATE INDEX settled_time ON skiplane.settled (settle_time, lane) WHERE settle_time IS NOT NULL;
DROP INDEX skiplane.enqueue_request_time;
CREATE INDEX enqueue_request_time ON skiplane.enqueue_request (create_time, lane)
  WHERE create_time IS NOT NULL;
