-- How long attempts of a queue waited and ran, in steps of some minutes. $1 its lanes  $2 stage as
-- an array (null in it: any)  $3 from the step of this time on  $4 up to this time  $5 step in
-- microseconds  $6, $7 step and stage after which to go on  $8 at most; 0: all together
-- lanes: any because an operator asks for all lanes of a queue
-- One row per step and stage: step in microseconds, stage; as "bucket:count" with commas between:
-- runs and waits, in any order and each bucket perhaps more than once. Together: step null, stage
-- 0.
WITH entry AS MATERIALIZED (
  SELECT CASE WHEN $8::int4 > 0
              THEN date_bin($5::int8 * interval '1 microsecond', m.minute, 'epoch'::timestamptz)
         END AS step,
         CASE WHEN $8::int4 > 0 THEN m.stage ELSE 0 END AS stage,
         m.run_first, m.wait_first, m.runs, m.waits
  FROM skiplane.minute_statistics m
  WHERE m.lane = ANY ($1::int8[])
    AND m.minute >= greatest(
      date_bin($5::int8 * interval '1 microsecond', $3::timestamptz, 'epoch'::timestamptz),
      $6::timestamptz)
    AND m.minute < $4::timestamptz AND coalesce(m.stage = ($2::int2[])[1], true)
), page AS MATERIALIZED (
  SELECT e.step, e.stage FROM entry e
  WHERE $8::int4 = 0 OR (e.step, e.stage) > ($6::timestamptz, $7::int2)
  GROUP BY e.step, e.stage ORDER BY e.step, e.stage LIMIT greatest($8::int4, 1)
)
SELECT (date_part('epoch', p.step) * 1e6)::int8, p.stage, string_agg(t.runs, ','),
       string_agg(t.waits, ',')
FROM page p
JOIN entry e ON e.step IS NOT DISTINCT FROM p.step AND e.stage = p.stage
CROSS JOIN LATERAL (
  SELECT (SELECT string_agg((e.run_first + r.place - 1) || ':' || r.times, ',')
          FROM unnest(e.runs) WITH ORDINALITY AS r(times, place) WHERE r.times > 0) AS runs,
         (SELECT string_agg((e.wait_first + w.place - 1) || ':' || w.times, ',')
          FROM unnest(e.waits) WITH ORDINALITY AS w(times, place) WHERE w.times > 0) AS waits
) t
GROUP BY p.step, p.stage ORDER BY p.step, p.stage
