-- Declares sessions lost whose end has passed, a thousand at most. One row each: id.
UPDATE skiplane.worker_session s SET state = 2
WHERE s.state < 2 AND s.id = ANY (ARRAY(
  SELECT e.id FROM skiplane.worker_session e
  WHERE e.state = 1 AND e.expire_time < now() LIMIT 1000 FOR UPDATE SKIP LOCKED))
RETURNING s.id
