-- A plan may be made when PostgreSQL has last counted a table as empty. Then every index looks as
-- cheap as any other, and a statement that looks for single rows could search all of an index whose
-- first column it does not name. Such a plan stays until vacuum counts the table again. So an index
-- that is not the primary key holds, as far as PostgreSQL knows, only rows with its first column:
-- whoever does not name that column cannot take it.
-- docs/adr/2026-11-27-plans-of-empty-tables.md
--
-- A version for each table, in a transaction of its own: callers that hold a lock on one may wait
-- for another.
DROP INDEX skiplane.task_lease_order;
CREATE INDEX task_lease_order ON skiplane.task (stage, lane, priority, schedule_time, id)
  WHERE stage IS NOT NULL;
