-- Which lanes have error groups without tasks in which nothing failed for a week. One row per lane.
-- lanes: any because upkeep asks once an hour
SELECT DISTINCT g.lane FROM skiplane.error_group g
WHERE g.retrying = 0 AND g.failed = 0 AND g.last_seen_time < now() - interval '7 days'
