-- Deletes keys whose tasks finished long ago. $1 lane  $2 days  $3 rows at most. One row: how many.
WITH deleted AS (
  DELETE FROM skiplane.task_key k
  WHERE k.lane = $1::int8 AND k.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.task_key o
    WHERE o.lane = $1::int8 AND o.end_time < now() - $2::int4 * interval '1 day'
    ORDER BY o.end_time LIMIT $3::int4 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*) FROM deleted
