-- After an outage: every living session gets one full time-out to beat again. One row: how many.
WITH spared AS (
  UPDATE skiplane.worker_session s SET expires_at = greatest(s.expires_at, now() + s.duration)
  WHERE s.state = 1 RETURNING 1
)
SELECT count(*) FROM spared
