-- Forgets statistics of more than 400 days ago. $1 lane. No rows.
DELETE FROM skiplane.stat_hour h WHERE h.lane = $1::int8 AND h.hour < now() - interval '400 days'
