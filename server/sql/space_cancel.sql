-- Stops what gives space back. $1 the backend that does it. One row if it was at it.
SELECT pg_cancel_backend(a.pid) FROM pg_stat_activity a
WHERE a.pid = $1::int4 AND a.state = 'active' AND a.query ~ '^(VACUUM|REINDEX) '
