-- Forgets request ids of long ago. $1 lane  $2 age in microseconds  $3 rows at most.
-- One row: how many.
WITH deleted AS (
  DELETE FROM skiplane.enqueue_request r
  WHERE r.lane = $1::int8 AND r.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.enqueue_request o
    WHERE o.lane = $1::int8 AND o.create_time < now() - $2::int8 * interval '1 microsecond'
    ORDER BY o.create_time LIMIT $3::int4 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*) FROM deleted
