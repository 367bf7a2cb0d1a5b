-- The sessions that were declared lost and are not forgotten yet, a thousand at most. One row each:
-- id.
SELECT s.id FROM skiplane.worker_session s WHERE s.state = 2 LIMIT 1000
