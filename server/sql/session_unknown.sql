-- Which of some sessions do not live: lost, or without a row. $1 ids. One row each: id.
SELECT u.id FROM unnest($1::uuid[]) AS u(id)
WHERE NOT EXISTS (SELECT 1 FROM skiplane.worker_session s WHERE s.id = u.id AND s.state = 1)
