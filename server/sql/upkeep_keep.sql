-- Notes that the database goes on to answer a broker whose mark (upkeep_mark) is fresh. One that is
-- older tells of a gap, one that is ahead of a clock that went back: both stay to be seen.
-- $1 broker id. One row if the mark was moved.
UPDATE skiplane.upkeep_lead u SET reclaim_time = now()
WHERE u.name = 'upkeep' AND u.holder = $1::uuid AND u.reclaimed_by = $1::uuid
  AND u.reclaim_time BETWEEN now() - interval '2 seconds' AND now() RETURNING 1
