-- Notes that lost sessions were looked for. $1 broker id. One row if it still leads.
UPDATE skiplane.upkeep_lead u SET reclaim_time = now(), reclaimed_by = $1::uuid
WHERE u.name = 'upkeep' AND u.holder = $1::uuid RETURNING 1
