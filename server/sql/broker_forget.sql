-- Deletes a broker that ends ($1 id) and those that fell silent an hour ago, but one that still has
-- connections: it may be frozen (deletion_awaited). No rows.
DELETE FROM skiplane.broker b
WHERE b.id = $1::uuid OR b.id = ANY (ARRAY(
  SELECT o.id FROM skiplane.broker o
  WHERE o.expire_time < now() - interval '1 hour'
    AND NOT EXISTS (
      SELECT FROM pg_stat_activity a
      WHERE a.datname = current_database()
        AND a.application_name = 'skiplaned ' || left(replace(o.id::text, '-', ''), 16))
  FOR UPDATE SKIP LOCKED))
