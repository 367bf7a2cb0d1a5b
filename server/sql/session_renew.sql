-- Heartbeats: moves the end of living sessions ahead. Per worker, each once, ordered by worker:
-- $1 worker ids  $2 durations in microseconds (0: the session's own)  $3 reports (null: progress is
-- unchanged)  $4 how much further ahead than the duration, in microseconds. Reports are JSON:
-- {"held": [task ids that the heartbeats name],
--  "progress": {task id: {lane, lease number, fraction, message}}}
-- What was reported before of tasks that are not named stays while their leases are held, of up to
-- 256 of them: other threads of the worker may name theirs in calls of their own.
-- One row per session that lives: worker id, session id, what remains in microseconds, the number
-- up to which leases must be looked at, as some were taken back or are to stop (0: none), and the
-- command for its worker.
-- No row: the session does not live.
-- lanes: any because a worker holds leases of all lanes, and few heartbeats with progress ask
WITH want AS MATERIALIZED (
  SELECT u.worker_id, nullif(u.duration, 0) * interval '1 microsecond' AS duration,
         now() + u.ahead * interval '1 microsecond' AS since, u.report::jsonb AS report
  FROM unnest($1::text[], $2::int8[], $3::text[], $4::int8[])
    AS u(worker_id, duration, report, ahead)
)
UPDATE skiplane.worker_session s
SET expire_time = greatest(s.expire_time, w.since + coalesce(w.duration, s.lease_duration)),
    lease_duration = coalesce(w.duration, s.lease_duration),
    progress = CASE WHEN w.report IS NULL THEN s.progress ELSE
      coalesce((SELECT jsonb_object_agg(e.key, e.value)
                FROM (SELECT a.key, a.value, w.report -> 'held' ? a.key AS is_held,
                             row_number() OVER (PARTITION BY w.report -> 'held' ? a.key) AS number
                      FROM jsonb_each(s.progress) a
                      WHERE NOT w.report -> 'progress' ? a.key) e
                WHERE e.is_held OR e.number <= 256 AND EXISTS (
                  SELECT FROM skiplane.task t
                  WHERE t.lane = (e.value ->> 'lane')::int8 AND t.id = e.key::int8
                    AND t.lease_number = (e.value ->> 'lease')::int8 AND t.state = 2
                  UNION ALL
                  SELECT FROM skiplane.packed((e.value ->> 'lane')::int8, e.key::int8) p
                  WHERE p.lease_number = (e.value ->> 'lease')::int8 AND p.state = 2
                  OFFSET 0)),
               '{}'::jsonb) || (w.report -> 'progress') END
FROM want w
CROSS JOIN LATERAL (
  SELECT o.id FROM skiplane.worker_session o
  WHERE o.worker_id = w.worker_id AND o.state = 1 OFFSET 0
) x
WHERE s.id = ANY (ARRAY[x.id]) AND s.state < 2
RETURNING s.worker_id, s.id, (date_part('epoch', s.expire_time - now()) * 1e6)::int8,
          s.recheck_until, s.command
