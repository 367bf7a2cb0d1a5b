-- Asks a living worker for something: its next heartbeat tells it. $1 its handle  $2 the command:
-- 1 run, 2 quiet, 3 stop. A session of one call, without a worker, hears of nothing.
-- One row if there is such a worker: 1.
-- lanes: any because operators ask by the handle, over a small table
UPDATE skiplane.worker_session s SET command = $2::int2
FROM (
  SELECT w.id FROM skiplane.worker_session w
  WHERE w.state = 1 AND w.worker_id IS NOT NULL AND skiplane.worker_handle(w.id) = $1::text
) x
WHERE s.id = ANY (ARRAY[x.id]) AND s.state = 1
RETURNING 1
