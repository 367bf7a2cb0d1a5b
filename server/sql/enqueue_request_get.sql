-- What was answered to request ids. $1 lane  $2 request ids  $3 heads and $4 hashes of the same, as
-- in answered_request.
-- One row per id that is known: request id, body hash, first task id, when its call began in
-- microseconds.
SELECT w.request_id, x.body_hash, x.first_id, (date_part('epoch', x.create_time) * 1e6)::int8
FROM unnest($2::text[], $3::int8[], $4::uuid[]) AS w(request_id, head, hash)
CROSS JOIN LATERAL (
  SELECT a.body_hash, a.first_id, a.create_time FROM skiplane.answered_request a
  WHERE a.head = w.head AND a.hash = w.hash
  UNION ALL
  SELECT skiplane.leading_bigint(r.body_hash), r.first_id, r.create_time
  FROM skiplane.enqueue_request r
  WHERE r.lane = $1::int8 AND r.request_id = w.request_id
  LIMIT 1
) x
