-- The sessions that some workers ended and that are not forgotten yet. $1 worker ids. One row each:
-- id.
SELECT s.id
FROM unnest($1::text[]) AS u(worker_id)
CROSS JOIN LATERAL (
  SELECT e.id FROM skiplane.worker_session e
  WHERE e.worker_id = u.worker_id AND e.state = 3 OFFSET 0
) s
