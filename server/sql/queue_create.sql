-- Makes a queue with its lanes unless one of this name exists. $1 name  $2 settings as JSON  $3
-- lanes.
-- One row if it was made: its id.
WITH made AS (
  INSERT INTO skiplane.queue (name, settings) VALUES ($1::text, $2::text::jsonb)
  ON CONFLICT (name) DO NOTHING
  RETURNING id
), lanes AS (
  INSERT INTO skiplane.queue_lane (queue_id, ordinal)
  SELECT m.id, n FROM made m CROSS JOIN generate_series(0, $3::int4 - 1) AS n ORDER BY n
)
SELECT m.id FROM made m
