-- As task_enqueue_once, of batches in which calls have request ids.
-- $1-$18 as there; $19-$24 as $11-$16 of task_enqueue_asked.
-- Rows and errors as there. A concurrent call with the same key or request id is waited for, not
-- overtaken.
SELECT e.id, e.lane, e.priority, e.can_run, e.run_us, e.now_us, e.wanted_id, e.outcome, e.stage,
       e.state
FROM skiplane.enqueue_asked(
  $1::int8[], $2::int8[], $3::timestamptz[], $4::int8[], $5::int4[], $6::int2[], $7::text[],
  $8::text[], $9::bytea[], $10::text[], $11::int8[], $12::int2[], $13::int8[], $14::int2[],
  $15::int8[], $16::text[], $17::text[], $18::int2[], $19::int8[], $20::uuid[], $21::int8[],
  $22::int8[], $23::int8[], $24::text[]) AS e
