-- Gives the lead up, so that another broker need not wait for its end. $1 broker id. No rows.
UPDATE skiplane.upkeep_lead u SET expire_time = now()
WHERE u.name = 'upkeep' AND u.holder = $1::uuid
