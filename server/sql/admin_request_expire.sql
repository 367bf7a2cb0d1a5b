-- Deletes old request ids of changes. $1 age in microseconds  $2 rows at most.
-- One row: how many.
WITH deleted AS (
  DELETE FROM skiplane.admin_request r
  WHERE r.id = ANY (ARRAY(
    SELECT o.id FROM skiplane.admin_request o
    WHERE o.create_time < now() - $1::int8 * interval '1 microsecond'
    ORDER BY o.create_time LIMIT $2::int4 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*) FROM deleted
