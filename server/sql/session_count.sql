-- How many worker sessions live. One row: count.
SELECT count(*) FROM skiplane.worker_session s WHERE s.state = 1 AND s.worker_id IS NOT NULL
