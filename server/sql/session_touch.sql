-- Makes worker sessions or moves their end ahead. Per session, each worker once, ordered by worker:
-- $1 worker ids (null: a session of one call)  $2 the id of a new session
-- $3 names (empty: the name stays)
-- $4 durations in microseconds  $5 how much further ahead than the duration, in microseconds
-- $6 how long ago the call came in that needs it, in microseconds: since then a new one exists
-- $7 client versions (empty: as it is)  $8 tasks at once (0: as it is)
-- One row each: worker id, session id, what remains of it and the time now in microseconds, and the
-- command for it.
INSERT INTO skiplane.worker_session AS s
  (id, worker_id, name, lease_duration, expire_time, create_time, client_version, concurrency)
SELECT u.id, u.worker_id, u.name, u.duration * interval '1 microsecond',
       now() + (u.duration + u.ahead) * interval '1 microsecond',
       now() - u.age * interval '1 microsecond', u.client_version, u.concurrency
FROM unnest($1::text[], $2::uuid[], $3::text[], $4::int8[], $5::int8[], $6::int8[], $7::text[],
            $8::int4[])
  AS u(worker_id, id, name, duration, ahead, age, client_version, concurrency)
ON CONFLICT (worker_id) WHERE state = 1 DO UPDATE
SET expire_time = greatest(s.expire_time, excluded.expire_time),
    lease_duration = excluded.lease_duration, name = coalesce(nullif(excluded.name, ''), s.name),
    client_version = coalesce(nullif(excluded.client_version, ''), s.client_version),
    concurrency = coalesce(nullif(excluded.concurrency, 0), s.concurrency)
RETURNING s.worker_id, s.id, (date_part('epoch', s.expire_time - now()) * 1e6)::int8,
          (date_part('epoch', now()) * 1e6)::int8, s.command
