-- Deletes old settled records. $1 lane  $2 age in microseconds  $3 rows at most.
-- One row: how many.
WITH deleted AS (
  DELETE FROM skiplane.settled s
  WHERE s.lane = $1::int8 AND s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.settled o
    WHERE o.lane = $1::int8 AND o.settle_time < now() - $2::int8 * interval '1 microsecond'
    ORDER BY o.settle_time LIMIT $3::int4 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*) FROM deleted
