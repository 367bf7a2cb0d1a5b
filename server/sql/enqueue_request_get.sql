-- What was answered to request ids. $1 lane  $2 request ids.
-- One row per id that is known: request id, body hash, first task id, when its call began in
-- microseconds.
SELECT w.request_id, x.body_hash, x.first_id, (date_part('epoch', x.create_time) * 1e6)::int8
FROM unnest($2::text[]) AS w(request_id)
CROSS JOIN LATERAL (
  SELECT r.body_hash, r.first_id, r.create_time FROM skiplane.enqueue_request r
  WHERE r.lane = $1::int8 AND r.request_id = w.request_id OFFSET 0
) x
