-- Ends sessions that were just made for calls from before an end of their worker. $1 ids. One row
-- each that was ended: id.
UPDATE skiplane.worker_session s
SET state = 3, end_time = s.create_time, check_time = now() + interval '1 second'
WHERE s.id = ANY ($1::uuid[]) AND s.state < 2 AND EXISTS (
  SELECT 1 FROM skiplane.worker_session e
  WHERE e.worker_id = s.worker_id AND e.state = 3 AND e.end_time >= s.create_time
  OFFSET 0)
RETURNING s.id
