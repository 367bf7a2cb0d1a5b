-- After an outage: every living session gets one full lease duration for its next heartbeat.
-- One row: how many.
WITH spared AS (
  UPDATE skiplane.worker_session s
  SET expire_time = greatest(s.expire_time, now() + s.lease_duration)
  FROM (
    SELECT o.id FROM skiplane.worker_session o
    WHERE o.state = 1 ORDER BY o.worker_id COLLATE "C", o.id OFFSET 0  -- the order of heartbeats
  ) w
  WHERE s.id = ANY (ARRAY[w.id]) AND s.state < 2
  RETURNING 1
)
SELECT count(*) FROM spared
