-- Writes what a broker saw of some minutes. One element each per row: $1 lanes  $2 stages
-- $3 minutes  $4, $5 first buckets of run and wait  $6, $7 their counts as "{1,2}". $8 part
-- No rows. What was written under this part before is not written again.
INSERT INTO skiplane.minute_statistics
  (lane, minute, part, stage, run_first, wait_first, runs, waits)
SELECT n.lane, n.minute, $8::int8, n.stage, n.run_first, n.wait_first, n.runs::int4[],
       n.waits::int4[]
FROM unnest($1::int8[], $2::int2[], $3::timestamptz[], $4::int2[], $5::int2[], $6::text[],
            $7::text[]) AS n(lane, stage, minute, run_first, wait_first, runs, waits)
ORDER BY n.lane, n.minute, n.stage
ON CONFLICT (lane, minute, part, stage) DO NOTHING
