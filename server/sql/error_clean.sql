-- Deletes error groups of a lane without tasks: those in which nothing failed for a week, and of
-- the others those beyond the ten thousand that failed last, as workers may give each failure its
-- own fingerprint. $1 lane  $2 rows at most. One row: how many.
WITH oldest AS MATERIALIZED (
  SELECT greatest(
    now() - interval '7 days',
    (SELECT o.last_seen_time FROM skiplane.error_group o
     WHERE o.lane = $1::int8 AND o.retrying = 0 AND o.failed = 0
     ORDER BY o.last_seen_time DESC OFFSET 9999 LIMIT 1)) AS seen_time
), deleted AS (
  DELETE FROM skiplane.error_group g
  WHERE g.lane = $1::int8 AND g.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.error_group o
    WHERE o.lane = $1::int8 AND o.retrying = 0 AND o.failed = 0
      AND o.last_seen_time < (SELECT a.seen_time FROM oldest a)
    ORDER BY o.last_seen_time LIMIT $2::int4 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*) FROM deleted
