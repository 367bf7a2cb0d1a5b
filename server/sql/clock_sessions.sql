-- Takes from living and ended sessions what the clock gave them by going back. $1 by how much, in
-- microseconds. A session keeps its full time-out, and a second more: so long brokers rely on it.
-- One row: how many.
WITH mended AS (
  UPDATE skiplane.worker_session s
  SET expires_at = least(s.expires_at,
                         greatest(s.expires_at - $1::int8 * interval '1 microsecond',
                                  now() + s.duration + interval '1 second')),
      check_at = CASE WHEN s.state = 3 THEN least(s.check_at, now() + interval '1 second') END
  FROM (
    SELECT o.id FROM skiplane.worker_session o
    WHERE o.state = 1 AND o.expires_at > now() + o.duration + interval '1 second'
       OR o.state = 3 AND o.check_at > now() + interval '1 second'
    ORDER BY o.worker_id COLLATE "C", o.id OFFSET 0  -- the order of beats
  ) w
  WHERE s.id = w.id AND s.state IN (1, 3)
  RETURNING 1
)
SELECT count(*) FROM mended
