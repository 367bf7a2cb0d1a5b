-- Which lanes have deltas to fold, $1 or more. One row per lane.
-- lanes: any because upkeep asks once per pass over a table that it keeps small
SELECT c.lane FROM skiplane.counter_delta c GROUP BY c.lane HAVING count(*) >= $1::int4
