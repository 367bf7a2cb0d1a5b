-- Cancels the command that gives space back. $1 its backend. One row if the backend ran it, or if
-- PostgreSQL does not know (track_activities is off): nothing else that it does would be lost.
SELECT pg_cancel_backend(a.pid) FROM pg_stat_activity a
WHERE a.pid = $1::int4
  AND (a.state = 'disabled' OR (a.state = 'active' AND a.query ~ '^(VACUUM|REINDEX) '))
