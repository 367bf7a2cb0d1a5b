-- Running bulk operations whose broker has not made a step for a while, and an end of old ones.
-- One row each: id.
WITH deleted AS (
  DELETE FROM skiplane.bulk_operation b
  WHERE b.id = ANY (ARRAY(
    SELECT o.id FROM skiplane.bulk_operation o
    WHERE o.create_time < now() - interval '7 days' AND o.state IN (2, 3) FOR UPDATE SKIP LOCKED))
)
SELECT b.id FROM skiplane.bulk_operation b
WHERE b.state IN (1, 4) AND b.update_time < now() - interval '5 seconds'
ORDER BY b.create_time LIMIT 10
