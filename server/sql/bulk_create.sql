-- Begins a bulk operation. $1 id  $2 queue id  $3 request as JSON  $4 whether it only counts
-- $5 lanes  $6 first phase  $7 actor. No rows. The total is an estimate from the counters.
-- lanes: any because an operation is about all lanes of its queue
INSERT INTO skiplane.bulk_operation (id, queue_id, request, dry_run, lanes, phase, actor, total)
VALUES ($1::uuid, $2::int8, $3::text::jsonb, $4::bool, $5::int8[], $6::int2, $7::text, coalesce((
  SELECT sum(c.waiting + c.leased + CASE WHEN $6::int2 = 2 THEN c.failed ELSE 0 END)
  FROM skiplane.counter c WHERE c.lane = ANY ($5::int8[])), 0))
