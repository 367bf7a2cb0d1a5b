-- Which of some sessions do not live: lost, ended, or without a row. $1 ids. One row each: id,
-- whether it was ended by its worker.
SELECT u.id, coalesce(s.state = 3, false)
FROM unnest($1::uuid[]) AS u(id)
LEFT JOIN LATERAL (
  SELECT o.state FROM skiplane.worker_session o WHERE o.id = u.id OFFSET 0
) s ON true
WHERE s.state IS DISTINCT FROM 1
