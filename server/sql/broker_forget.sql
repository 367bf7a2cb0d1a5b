-- Deletes a broker that ends ($1 id) and those that fell silent an hour ago. No rows.
DELETE FROM skiplane.broker b
WHERE b.id = $1::uuid OR b.id = ANY (ARRAY(
  SELECT o.id FROM skiplane.broker o
  WHERE o.expire_time < now() - interval '1 hour' FOR UPDATE SKIP LOCKED))
