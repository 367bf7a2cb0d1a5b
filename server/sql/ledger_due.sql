-- Which lanes have ledger rows that upkeep should look at. One row per lane.
-- lanes: any because upkeep asks once per pass over a small table
SELECT DISTINCT l.lane FROM skiplane.lease_ledger l WHERE l.check_time < now()
