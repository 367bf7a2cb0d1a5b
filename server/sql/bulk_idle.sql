-- Running bulk operations whose broker has not made a step for a while, and an end of old ones.
-- One row each: id.
WITH deleted AS (
  DELETE FROM skiplane.bulk_operation b
  WHERE b.id = ANY (ARRAY(
    SELECT o.id FROM skiplane.bulk_operation o
    WHERE o.created_at < now() - interval '7 days' AND o.state <> 1 FOR UPDATE SKIP LOCKED))
)
SELECT b.id FROM skiplane.bulk_operation b
WHERE b.state = 1 AND b.updated_at < now() - interval '5 seconds'
ORDER BY b.created_at LIMIT 10
