-- Lanes in which attempts ended within the last week. One row per lane.
-- lanes: any because the sampler asks for all lanes at once, seldom, by one index lookup each
SELECT l.lane
FROM skiplane.queue_lane l
CROSS JOIN LATERAL (
  SELECT 1 FROM skiplane.hour_statistics h
  WHERE h.lane = l.lane AND h.hour >= now() - interval '7 days' LIMIT 1
) active
