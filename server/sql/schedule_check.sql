-- What is wrong with schedules. $1 cron texts  $2 time zones.
-- One row per schedule, in order: null if it is fine, else "cron: …" or "time_zone: …".
SELECT skiplane.cron_problem(u.cron, u.time_zone)
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u(cron, time_zone, n)
ORDER BY u.n
