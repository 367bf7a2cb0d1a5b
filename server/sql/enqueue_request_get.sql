-- What was answered to request ids. $1 lane  $2 request ids.
-- One row per id that is known: request id, body hash, first task id.
SELECT w.request_id, x.body_hash, x.first_id
FROM unnest($2::text[]) AS w(request_id)
CROSS JOIN LATERAL (
  SELECT r.body_hash, r.first_id FROM skiplane.enqueue_request r
  WHERE r.lane = $1::int8 AND r.request_id = w.request_id OFFSET 0
) x
