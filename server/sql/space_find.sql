-- What a vacuum or a rebuild would give back to the disk: tables that are mostly empty, and indexes
-- of tables that are small again. $1 pages a table has at least  $2 pages an index has at least
-- $3 pages that a table whose index is rebuilt has at most
-- $4 seconds after which an estimate of rows is made anew, by a vacuum
-- One row per step: name of the table or index, whether this role may take the step, the command.
-- lanes: any because upkeep asks once a minute, over tables that it keeps small
-- The database's owner may vacuum what others own, but not rebuild it.
-- A page in use holds a row at least, and one of an index many: so a table with four pages for each
-- row is three quarters empty at least, and an index with fewer rows than pages is nearly so.
-- INDEX_CLEANUP because without it PostgreSQL leaves the dead rows of the last few pages where they
-- are, and the file with them.
-- The counters know the rows of the table of tasks, as long as no tasks have been packed. Else, and
-- of the others and of large values, PostgreSQL has an estimate: without those that were deleted
-- while the vacuum ran that made it.
WITH relation AS MATERIALIZED (
  SELECT c.oid, c.relname, c.reltoastrelid AS toast, s.pages, k.is_counted,
         CASE WHEN k.is_counted THEN (
           SELECT coalesce(sum(a.waiting + a.leased), 0)::int8
           FROM (
             SELECT n.waiting, n.leased FROM skiplane.counter n
             UNION ALL
             SELECT n.waiting, n.leased FROM skiplane.counter_delta n
           ) a
         ) ELSE pg_stat_get_live_tuples(c.oid) END AS rows,
         coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)) / s.page_bytes, 0) AS toast_pages,
         pg_has_role(d.datdba, 'USAGE') AS owns_database,
         pg_has_role(c.relowner, 'USAGE')
           OR CASE WHEN current_setting('server_version_num')::int4 >= 170000
                   THEN has_table_privilege(c.oid, 'MAINTAIN') ELSE false END AS may_rebuild
  FROM pg_database d, pg_class c
  CROSS JOIN LATERAL (
    SELECT c.relname = 'task' AND pg_relation_size('skiplane.task_pack') = 0 AS is_counted
  ) k
  CROSS JOIN LATERAL (
    SELECT b.page_bytes, pg_relation_size(c.oid) / b.page_bytes AS pages
    FROM (SELECT current_setting('block_size')::int8 AS page_bytes) b OFFSET 0
  ) s
  WHERE d.datname = current_database() AND c.relkind = 'r'
    AND c.relnamespace = 'skiplane'::regnamespace
), file AS (
  SELECT r.oid AS relation, CASE WHEN NOT r.is_counted THEN r.oid END AS estimated, r.rows,
         r.pages
  FROM relation r
  UNION ALL
  SELECT r.oid, r.toast, pg_stat_get_live_tuples(r.toast), r.toast_pages FROM relation r
)
SELECT r.relname, r.may_rebuild OR r.owns_database,
       format('VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, TRUNCATE, PARALLEL 0) skiplane.%I', r.relname)
FROM relation r
WHERE EXISTS (
  SELECT FROM file f
  WHERE f.relation = r.oid AND f.pages >= $1::int8
    AND (f.rows < f.pages / 4
         OR (pg_stat_get_tuples_deleted(f.estimated) > 0
             AND greatest(pg_stat_get_last_vacuum_time(f.estimated),
                          pg_stat_get_last_autovacuum_time(f.estimated),
                          pg_stat_get_last_analyze_time(f.estimated),
                          pg_stat_get_last_autoanalyze_time(f.estimated))
                 < now() - $4::int8 * interval '1 second')))
UNION ALL
SELECT i.relname, r.may_rebuild, format('REINDEX INDEX skiplane.%I', i.relname)
FROM relation r
CROSS JOIN LATERAL (
  SELECT c.relname, pg_relation_size(c.oid) / current_setting('block_size')::int8 AS pages
  FROM pg_index x CROSS JOIN LATERAL (
    SELECT o.oid, o.relname FROM pg_class o WHERE o.oid = x.indexrelid OFFSET 0
  ) c
  WHERE x.indrelid = r.oid AND x.indisvalid OFFSET 0
) i
WHERE r.pages <= $3::int8 AND i.pages >= $2::int8 AND r.rows < i.pages
