-- What was answered to request ids. $1 lane  $2 request ids.
-- One row per id that is known: request id, body hash, first task id.
SELECT r.request_id, r.body_hash, r.first_id
FROM unnest($2::text[]) AS w(request_id)
JOIN skiplane.request r ON r.lane = $1::int8 AND r.request_id = w.request_id
