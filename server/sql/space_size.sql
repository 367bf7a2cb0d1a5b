-- The space that the tables of the schema take, partitions together with their table.
-- One row per table: name; bytes of its rows, of their large values (TOAST) and of its indexes;
-- dead rows as far as PostgreSQL knows; and, in each row, the bytes of the whole database.
SELECT coalesce(p.relname, t.relname), sum(t.bytes - t.toast_bytes)::int8, sum(t.toast_bytes)::int8,
       sum(t.index_bytes)::int8, sum(t.dead)::int8, pg_database_size(current_database())
FROM (
  SELECT c.relname, c.oid, pg_table_size(c.oid) AS bytes, pg_indexes_size(c.oid) AS index_bytes,
         coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) AS toast_bytes,
         pg_stat_get_dead_tuples(c.oid) AS dead
  FROM pg_class c
  WHERE c.relkind = 'r' AND c.relnamespace = 'skiplane'::regnamespace
) t
LEFT JOIN LATERAL (
  SELECT o.relname FROM pg_inherits i JOIN pg_class o ON o.oid = i.inhparent
  WHERE i.inhrelid = t.oid
) p ON true
GROUP BY 1 ORDER BY 1
