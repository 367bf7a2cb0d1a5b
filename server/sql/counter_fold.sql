-- Adds up to $2 deltas of a lane to its counters. $1 lane  $2 rows.
-- One row: how many deltas were folded. Only `waiting` is kept by due time.
WITH taken AS (
  DELETE FROM skiplane.counter_delta d
  WHERE d.lane = $1::int8 AND d.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.counter_delta o WHERE o.lane = $1::int8 LIMIT $2::int4
    FOR UPDATE SKIP LOCKED))
  RETURNING d.stage, d.due, d.waiting, d.leased, d.succeeded, d.failed, d.cancelled
), added AS (
  INSERT INTO skiplane.counter AS c
    (lane, stage, due, waiting, leased, succeeded, failed, cancelled)
  SELECT $1::int8, s.stage, s.due, sum(s.waiting), sum(s.leased), sum(s.succeeded), sum(s.failed),
         sum(s.cancelled)
  FROM (
    SELECT t.stage, t.due, t.waiting, 0 AS leased, 0 AS succeeded, 0 AS failed, 0 AS cancelled
    FROM taken t
    UNION ALL
    SELECT t.stage, 0, 0, t.leased, t.succeeded, t.failed, t.cancelled FROM taken t
  ) s
  GROUP BY s.stage, s.due ORDER BY s.stage, s.due
  ON CONFLICT (lane, stage, due) DO UPDATE
  SET waiting = c.waiting + excluded.waiting, leased = c.leased + excluded.leased,
      succeeded = c.succeeded + excluded.succeeded, failed = c.failed + excluded.failed,
      cancelled = c.cancelled + excluded.cancelled
)
SELECT count(*) FROM taken
