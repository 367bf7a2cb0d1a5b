-- The sessions whose leases are to be taken back: those that were declared lost, and ended ones
-- when it is time to look. By id, a thousand at most. $1 the id after which to look. One row each:
-- id, whether its worker ended it.
SELECT s.id, s.state = 3 FROM skiplane.worker_session s
WHERE s.state <> 1 AND (s.state = 2 OR s.check_time <= now()) AND s.id > $1::uuid
ORDER BY s.id LIMIT 1000
