-- Which lanes have changes of error groups to fold. One row per lane.
-- lanes: any because upkeep asks once per pass over a table that it keeps small
SELECT DISTINCT d.lane FROM skiplane.error_delta d
