-- Which of these request ids the ledger knows, so that something was leased under them: nearly
-- always none. $1 lane  $2 request ids. One row per known id.
SELECT w.request_id FROM unnest($2::text[]) AS w(request_id)
CROSS JOIN LATERAL (
  SELECT 1 FROM skiplane.lease_ledger r
  WHERE r.lane = $1::int8 IS TRUE AND r.request_id = w.request_id OFFSET 0
) x
