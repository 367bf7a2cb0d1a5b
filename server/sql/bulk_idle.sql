-- Running bulk operations whose broker has not made a step for a while, and an end of old ones.
-- One row each: id.
WITH gone AS (
  DELETE FROM skiplane.bulk_operation b
  WHERE b.created_at < now() - interval '7 days' AND b.state <> 1
)
SELECT b.id FROM skiplane.bulk_operation b
WHERE b.state = 1 AND b.updated_at < now() - interval '5 seconds'
ORDER BY b.created_at LIMIT 10
