-- The sessions whose leases are to be taken back: those that were declared lost, and ended ones
-- when it is time to look; a thousand at most. One row each: id, whether its worker ended it.
SELECT s.id, s.state = 3 FROM skiplane.worker_session s
WHERE s.state = 2 OR (s.state = 3 AND s.check_time <= now()) LIMIT 1000
