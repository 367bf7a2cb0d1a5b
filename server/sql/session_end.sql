-- Ends the sessions of workers that are done; after session_claim, in the same transaction. Per
-- worker, each once, in order: $1 worker ids  $2 the ids of session_claim  $3 how long ago the call
-- came in, in microseconds. A session that a later call made goes on.
-- Upkeep looks for what they hold: first soon, for leases that were on their way, then when the
-- last broker that believes them to live has forgotten them.
-- No row.
UPDATE skiplane.worker_session s
SET state = 3, end_time = now() - u.age * interval '1 microsecond',
    check_time = now() + interval '1 second'
FROM unnest($1::text[], $2::uuid[], $3::int8[]) AS u(worker_id, id, age)
CROSS JOIN LATERAL (
  SELECT o.ctid AS row_location FROM skiplane.worker_session o
  WHERE o.worker_id = u.worker_id AND o.state = 1
    AND (o.id = u.id OR o.create_time <= now() - u.age * interval '1 microsecond')
  OFFSET 0
) x
WHERE s.ctid = x.row_location
