-- Stops a bulk operation if it runs. $1 id. One row if it is known: whether it was stopped.
WITH stopped AS (
  UPDATE skiplane.bulk_operation b SET state = 3, update_time = now()
  WHERE b.id = $1::uuid AND b.state IN (1, 4) RETURNING 1
)
SELECT EXISTS (SELECT 1 FROM stopped) FROM skiplane.bulk_operation b WHERE b.id = $1::uuid
