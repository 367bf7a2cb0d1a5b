-- What keeps a database from serving brokers well. One row per look: what was looked at, how bad it
-- is (0 as it should be; 1 to be seen to; 2 wrong), what was found, and what to do
-- unless it is as it should be. It reads what any role may see; of others' sessions that needs
-- pg_read_all_stats.
WITH setting AS (
  SELECT s.name, s.setting, s.setting::numeric AS amount
  FROM pg_settings s WHERE s.vartype IN ('integer', 'real')
), backend AS (
  SELECT count(*) AS all_of_them,
         count(*) FILTER (WHERE a.application_name LIKE 'skiplaned%') AS brokers,
         max(now() - a.xact_start)
           FILTER (WHERE a.state LIKE 'idle in transaction%') AS longest_idle,
         max(now() - a.xact_start) FILTER (WHERE a.backend_xmin IS NOT NULL) AS oldest_snapshot
  FROM pg_stat_activity a WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
), reader AS (
  SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees_all
), slot AS (
  SELECT count(*) FILTER (WHERE NOT r.active) AS idle,
         string_agg(r.slot_name, ', ') FILTER (WHERE NOT r.active) AS names
  FROM pg_replication_slots r
), bloat AS (
  SELECT string_agg(format('%s (%s dead, %s live)', s.relname, s.n_dead_tup, s.n_live_tup), ', '
                    ORDER BY s.n_dead_tup DESC) AS tables
  FROM pg_stat_user_tables s
  WHERE s.schemaname = 'skiplane' AND s.n_dead_tup > 100000 AND s.n_dead_tup > s.n_live_tup
), unreadable AS (
  SELECT string_agg(c.relname, ', ' ORDER BY c.relname) AS tables
  FROM pg_class c
  WHERE c.relnamespace = to_regnamespace('skiplane') AND c.relkind IN ('r', 'p')
    AND NOT c.relispartition AND c.relname NOT IN ('pack_history', 'packed_task')
    AND NOT has_table_privilege(c.oid, 'SELECT')
)
SELECT 'version', (current_setting('server_version_num')::int < 150000)::int * 2,
       'PostgreSQL ' || current_setting('server_version'),
       'upgrade to PostgreSQL 15 or newer'
UNION ALL
SELECT 'statistics', (NOT r.sees_all)::int,
       format(CASE WHEN r.sees_all THEN '%I sees all sessions'
                   ELSE '%I sees no sessions of others, and no standbys' END, current_user),
       format('GRANT pg_read_all_stats TO %I, and look again', current_user)
FROM reader r
UNION ALL
SELECT 'rights', (u.tables IS NOT NULL)::int * 2,
       CASE WHEN u.tables IS NULL THEN format('%I may read all tables', current_user)
            ELSE format('%I may not read %s', current_user, u.tables) END,
       format('GRANT skiplane_broker TO %I, or SELECT skiplane.grant_rights() as the '
              'schema''s owner after deploy/database-roles.sql', current_user)
FROM unreadable u
UNION ALL
SELECT 'autovacuum', (NOT v.is_on)::int * 2,
       CASE WHEN v.is_on THEN 'on' ELSE 'off: tables will only grow' END,
       'set autovacuum and track_counts on, and reload'
FROM (
  SELECT current_setting('autovacuum') = 'on' AND current_setting('track_counts') = 'on' AS is_on
) v
UNION ALL
SELECT 'connections', (b.all_of_them > 0.8 * s.amount)::int,
       format('%s of %s, %s of them of brokers', b.all_of_them, s.setting, b.brokers),
       'raise max_connections, or have fewer clients: brokers need a few each'
FROM backend b, setting s WHERE s.name = 'max_connections'
UNION ALL
SELECT 'snapshots', (b.oldest_snapshot > interval '10 minutes')::int,
       CASE WHEN b.oldest_snapshot IS NULL THEN 'none'
            ELSE format('the oldest is of %s ago', date_trunc('second', b.oldest_snapshot)) END,
       'end what is so long under way (pg_stat_activity, by xact_start): as long as it '
                 'runs, no dead row goes, and leases get slower'
FROM backend b
UNION ALL
SELECT 'idle transactions', (b.longest_idle > interval '1 minute')::int,
       CASE WHEN b.longest_idle IS NULL THEN 'none'
            ELSE format('the longest since %s', date_trunc('second', b.longest_idle)) END,
       'end its session, and set idle_in_transaction_session_timeout for that client'
FROM backend b
UNION ALL
SELECT 'prepared transactions', (p.amount > 0)::int, p.amount || ' older than a minute',
       'commit or roll back what pg_prepared_xacts names'
FROM (SELECT count(*) FROM pg_prepared_xacts x WHERE x.prepared < now() - interval '1 minute')
  AS p(amount)
UNION ALL
SELECT 'replication slots', (s.idle > 0)::int,
       CASE WHEN s.idle > 0 THEN 'nobody reads ' || s.names ELSE 'none that nobody reads' END,
       'start what reads them, or pg_drop_replication_slot: they keep WAL for ever'
FROM slot s
UNION ALL
SELECT 'standbys', (w.waits)::int * 2,
       CASE WHEN w.waits THEN 'commits wait for a standby, and none is connected'
            WHEN w.wanted THEN 'commits wait for one'
            ELSE 'commits wait for none' END,
       'start the standby, or change synchronous_standby_names'
FROM (
  SELECT current_setting('synchronous_standby_names') <> '' AS wanted,
         current_setting('synchronous_standby_names') <> '' AND NOT EXISTS (
           SELECT FROM pg_stat_replication r WHERE r.sync_state IN ('sync', 'quorum'))
           AND (SELECT r.sees_all FROM reader r) AS waits
) w
UNION ALL
SELECT 'dead rows', (b.tables IS NOT NULL)::int, coalesce(b.tables, 'few'),
       'see whether autovacuum comes to it, and what holds it back (snapshots, above)'
FROM bloat b
UNION ALL
SELECT 'transaction numbers', (d.age > 1000000000)::int,
       format('%s of 2,147,483,647 used up', d.age),
       'run VACUUM (FREEZE) as the owner, and find what holds '
       'autovacuum back'
FROM (SELECT age(p.datfrozenxid) AS age FROM pg_database p WHERE p.datname = current_database()) d
UNION ALL
SELECT 'memory', (s.amount * 8192 < 134217728)::int,
       'shared_buffers ' || current_setting('shared_buffers'),
       'set shared_buffers to a quarter of the memory'
FROM setting s WHERE s.name = 'shared_buffers'
UNION ALL
SELECT 'log of changes', (s.amount < 1024)::int, 'max_wal_size ' || current_setting('max_wal_size'),
       'set max_wal_size to 1GB at least: checkpoints that come too '
       'often write whole pages again and again'
FROM setting s WHERE s.name = 'max_wal_size'
UNION ALL
SELECT 'checksums', (current_setting('data_checksums') <> 'on')::int,
       'of data pages ' || current_setting('data_checksums'),
       'pg_checksums --enable while PostgreSQL is stopped: else broken disks go unseen'
