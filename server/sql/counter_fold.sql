-- Adds up to $2 deltas of a lane to its counters and to its statistics. $1 lane  $2 rows.
-- One row: how many deltas were folded. Only `waiting` is kept by due time. What another one folds
-- meanwhile is waited for, and is not folded again; locking the deltas first would only cost WAL.
WITH taken AS (
  DELETE FROM skiplane.counter_delta d
  WHERE d.lane = $1::int8 AND d.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.counter_delta o WHERE o.lane = $1::int8 LIMIT $2::int4))
  RETURNING d.stage, d.due, d.waiting, d.leased, d.succeeded, d.failed, d.cancelled, d.moved,
    d.end_time,
            d.outcome, d.attempts, d.run_us, d.run_max_us, d.wait_us
), added AS (
  INSERT INTO skiplane.counter AS c
    (lane, stage, due, waiting, leased, succeeded, failed, cancelled, moved)
  SELECT $1::int8, s.stage, s.due, sum(s.waiting), sum(s.leased), sum(s.succeeded), sum(s.failed),
         sum(s.cancelled), sum(s.moved)
  FROM (
    SELECT t.stage, t.due, t.waiting, 0 AS leased, 0 AS succeeded, 0 AS failed, 0 AS cancelled,
           0 AS moved
    FROM taken t
    UNION ALL
    SELECT t.stage, 0, 0, t.leased, t.succeeded, t.failed, t.cancelled, t.moved FROM taken t
  ) s
  GROUP BY s.stage, s.due ORDER BY s.stage, s.due
  ON CONFLICT (lane, stage, due) DO UPDATE
  SET waiting = c.waiting + excluded.waiting, leased = c.leased + excluded.leased,
      succeeded = c.succeeded + excluded.succeeded, failed = c.failed + excluded.failed,
      cancelled = c.cancelled + excluded.cancelled, moved = c.moved + excluded.moved
), rolled AS (
  INSERT INTO skiplane.hour_statistics AS h
    (lane, hour, stage, outcome, attempts, run_us, run_max_us, wait_us)
  SELECT $1::int8, date_trunc('hour', t.end_time), t.stage, t.outcome, sum(t.attempts),
         sum(t.run_us), max(t.run_max_us), sum(t.wait_us)
  FROM taken t WHERE t.outcome IS NOT NULL
  GROUP BY 2, t.stage, t.outcome ORDER BY 2, t.stage, t.outcome
  ON CONFLICT (lane, hour, stage, outcome) DO UPDATE
  SET attempts = h.attempts + excluded.attempts, run_us = h.run_us + excluded.run_us,
      run_max_us = greatest(h.run_max_us, excluded.run_max_us),
      wait_us = h.wait_us + excluded.wait_us
)
SELECT count(*) FROM taken
