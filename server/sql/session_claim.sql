-- Locks the living sessions of workers that end theirs; makes one where there is none, so that none
-- is made unseen meanwhile. Per worker, each once, in order: $1 worker ids  $2 ids of new sessions.
-- No row.
INSERT INTO skiplane.worker_session AS s (id, worker_id, lease_duration, expire_time)
SELECT u.id, u.worker_id, '0', now() FROM unnest($1::text[], $2::uuid[]) AS u(worker_id, id)
ON CONFLICT (worker_id) WHERE state = 1 DO UPDATE SET expire_time = s.expire_time
