-- Takes from living and ended sessions what the clock gave them by going back. $1 the time before
-- the step  $2 by how much, in microseconds  $3 the longest lease duration there is, in
-- microseconds  $4 sessions at most. A session keeps its full lease duration, and a second more: so
-- long brokers rely on it. One row: how many.
-- Left alone: what ends by the time before the step, as only a lease since then can have set it;
-- and what was written since the step was noted, by leases, heartbeats or this, unless no lease is
-- so long.
-- locks: any because nobody else looks for these sessions again; by worker id, as heartbeats do
WITH mended AS (
  UPDATE skiplane.worker_session s
  SET expire_time = least(s.expire_time,
                         greatest(s.expire_time - $2::int8 * interval '1 microsecond',
                                  now() + s.lease_duration + interval '1 second')),
      check_time = CASE WHEN s.state = 3 THEN least(s.check_time, now() + interval '1 second') END
  FROM (
    SELECT o.id FROM skiplane.worker_session o
    WHERE o.state = 1 AND o.expire_time > $1::timestamptz
        AND o.expire_time > now() + o.lease_duration + interval '1 second'
        AND (age(o.xmin) > age((SELECT c.noted_by::xid FROM skiplane.clock_step c
                                WHERE c.old_time = $1::timestamptz))
          OR o.expire_time > now() + $3::int8 * interval '1 microsecond' + interval '1 minute')
       OR o.state = 3 AND o.check_time > $1::timestamptz
        AND o.check_time > now() + interval '1 second'
    ORDER BY o.worker_id COLLATE "C", o.id LIMIT $4::int4
    FOR UPDATE
  ) w
  WHERE s.id = ANY (ARRAY[w.id]) AND s.state IN (1, 3)
  RETURNING 1
)
SELECT count(*) FROM mended
