-- Which lanes have deltas to fold. One row per lane.
-- lanes: any because upkeep asks once per pass over a table that it keeps small
SELECT DISTINCT c.lane FROM skiplane.counter_delta c
