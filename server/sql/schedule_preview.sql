-- The next times of a schedule. $1 cron  $2 time zone  $3 after this time, as an array (null: now)
-- $4 how many
-- One row per planned time, in order: microseconds.
WITH RECURSIVE planned AS (
  SELECT skiplane.cron_next($1::text, $2::text, coalesce(($3::timestamptz[])[1], now())) AS at,
         1 AS n
  UNION ALL
  SELECT skiplane.cron_next($1::text, $2::text, t.at), t.n + 1 FROM planned t WHERE t.n < $4::int4
)
SELECT (date_part('epoch', t.at) * 1e6)::int8 FROM planned t ORDER BY t.n
