-- Makes sure that a lease statement whose answer was lost either was committed or never can be: the
-- ids of its ledger rows are taken. $1 lane  $2 ledger ids.
-- One row per id that was free: its statement did not happen. An unfinished one is waited for.
INSERT INTO skiplane.lease_ledger (lane, id, sessions, tasks, lease_numbers, check_time)
SELECT $1::int8, c.id, '{}', '{}', '{}', now() + interval '30 seconds'
FROM unnest($2::uuid[]) AS c(id)
ON CONFLICT (lane, id) DO NOTHING
RETURNING id
