-- Heartbeats: moves the end of living sessions ahead. Per worker, each once, ordered by worker:
-- $1 worker ids  $2 durations in microseconds  $3 progress as JSON (null: unchanged)
-- One row per session that lives: worker id, session id, what remains in microseconds, ids of the tasks
-- whose worker shall stop. No row: the session is lost.
WITH want AS MATERIALIZED (
  SELECT u.worker_id, u.duration * interval '1 microsecond' AS duration,
         now() + u.duration * interval '1 microsecond' AS expires_at, u.progress::jsonb AS progress
  FROM unnest($1::text[], $2::int8[], $3::text[]) AS u(worker_id, duration, progress)
)
UPDATE skiplane.worker_session s
SET expires_at = greatest(s.expires_at, w.expires_at), duration = w.duration,
    progress = CASE WHEN w.progress IS NULL THEN s.progress
                    ELSE coalesce(s.progress, '{}'::jsonb) || w.progress END
FROM want w
WHERE s.worker_id = w.worker_id AND s.state = 1
RETURNING s.worker_id, s.id, (date_part('epoch', s.expires_at - now()) * 1e6)::int8, s.cancels
