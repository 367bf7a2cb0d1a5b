-- The living sessions of some workers, as they are. $1 worker ids.
-- One row each: worker id, session id, what remains of it in microseconds, the command for it.
SELECT s.worker_id, s.id, (date_part('epoch', s.expire_time - now()) * 1e6)::int8, s.command
FROM unnest($1::text[]) AS u(worker_id)
CROSS JOIN LATERAL (
  SELECT x.worker_id, x.id, x.expire_time, x.command FROM skiplane.worker_session x
  WHERE x.worker_id = u.worker_id AND x.state = 1 OFFSET 0
) s
