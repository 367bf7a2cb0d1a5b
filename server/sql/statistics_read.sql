-- Statistics by hour, folded and not yet folded. $1 lanes  $2 stage and $3 outcome as arrays (null
-- in them: any)
-- $4 from the hour of this time  $5 up to and without the hour that begins at or after this time
-- $6, $7, $8 hour, stage and outcome after which to go on  $9 at most
-- lanes: any because an operator asks for all lanes of a queue
-- One row per hour, stage and outcome: hour in microseconds, stage, outcome, attempts, total and
-- greatest run time and total waiting time in microseconds.
SELECT (date_part('epoch', a.hour) * 1e6)::int8, a.stage, a.outcome, sum(a.attempts),
       sum(a.run_us), max(a.run_max_us), sum(a.wait_us)
FROM (
  SELECT h.hour, h.stage, h.outcome, h.attempts, h.run_us, h.run_max_us, h.wait_us
  FROM skiplane.hour_statistics h
  WHERE h.lane = ANY ($1::int8[])
    AND h.hour >= greatest(date_trunc('hour', $4::timestamptz), $6::timestamptz)
    AND h.hour < $5::timestamptz
  UNION ALL
  SELECT date_trunc('hour', d.end_time), d.stage, d.outcome, d.attempts, d.run_us, d.run_max_us,
         d.wait_us
  FROM skiplane.counter_delta d
  WHERE d.lane = ANY ($1::int8[]) AND d.outcome IS NOT NULL
    AND d.end_time >= date_trunc('hour', $4::timestamptz)
    AND date_trunc('hour', d.end_time) < $5::timestamptz
  -- The condition on where to go on is no way into the index.
  OFFSET 0
) a
WHERE coalesce(a.stage = ($2::int2[])[1], true) AND coalesce(a.outcome = ($3::int2[])[1], true)
  AND (a.hour, a.stage, a.outcome) > ($6::timestamptz, $7::int2, $8::int2)
GROUP BY a.hour, a.stage, a.outcome
ORDER BY a.hour, a.stage, a.outcome LIMIT $9::int4
