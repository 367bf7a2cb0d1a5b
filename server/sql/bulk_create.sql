-- Begins a bulk operation. $1 id  $2 queue id  $3 request as JSON  $4 whether it only counts
-- $5 lanes  $6 first phase  $7 actor  $8 whether it goes through living tasks  $9 through failed
-- ones  $10 {stage}, {null} for any  $11 state: 1, or 4 if brokers before 0.2 must leave it alone
-- $12 how many ids the filter names (0: none)  $13 nothing is begun if so many of the queue run;
-- calls at once may go beyond it. One row if it was begun. The total is exact but for failed tasks
-- that went with their day.
-- lanes: any because an operation is about all lanes of its queue
INSERT INTO skiplane.bulk_operation
  (id, queue_id, request, dry_run, lanes, phase, actor, stage, state, total)
SELECT $1::uuid, $2::int8, $3::text::jsonb, $4::bool, $5::int8[], $6::int2, $7::text,
        ($10::int2[])[1], $11::int2, CASE WHEN $12::int8 > 0 THEN $12::int8 ELSE coalesce((
  SELECT sum(CASE WHEN $8::bool THEN a.living ELSE 0 END
             + CASE WHEN $9::bool THEN a.failed ELSE 0 END)
  FROM (
    SELECT c.waiting + c.leased AS living, c.failed
    FROM skiplane.counter c WHERE c.lane = ANY ($5::int8[])
    UNION ALL
    SELECT d.waiting + d.leased, d.failed
    FROM skiplane.counter_delta d WHERE d.lane = ANY ($5::int8[])
  ) a), 0) END
WHERE (
  SELECT count(*) FROM (
    SELECT FROM skiplane.bulk_operation b
    WHERE b.queue_id = $2::int8 AND b.state IN (1, 4) LIMIT $13::int4) r) < $13::int4
RETURNING id
