-- Makes a queue with its lanes unless one of this name exists. $1 name  $2 settings as JSON  $3
-- lanes  $4 how many queues there may be.
-- One row: its id if it was made, else null; and whether there is no room for another.
WITH room AS MATERIALIZED (
  SELECT count(*) < $4::int4 AS is_left FROM skiplane.queue
), made AS (
  INSERT INTO skiplane.queue (name, settings)
  SELECT $1::text, $2::text::jsonb FROM room r WHERE r.is_left
  ON CONFLICT (name) DO NOTHING
  RETURNING id
), lanes AS (
  INSERT INTO skiplane.queue_lane (queue_id, ordinal)
  SELECT m.id, n FROM made m CROSS JOIN generate_series(0, $3::int4 - 1) AS n ORDER BY n
)
SELECT (SELECT m.id FROM made m), NOT r.is_left FROM room r
