-- Makes tasks of any kind, of any lanes, all or none: with a key or without, of calls with a
-- request id or without. What is known already is left out or changed, as its key policy has it.
-- $1-$9 as in task_enqueue  $10 keys (null: none)  $11 the first id of the task's call if that
-- has a request id, else 0  $12 key policies: 1 keep, 2 keep unfinished, 3 rerun if newer,
-- 4 replace waiting, 5 reject, 6 schedule  $13 versions (null: none)  $14 stages  $15 periods in
-- microseconds (null)  $16 cron schedules (null)  $17 their time zones (null: UTC)  $18 missed
-- times: 1 skipped, 2 run; then one element per call with a request id, ordered by lane and id:
-- $19 lanes  $20 request ids  $21 body hashes  $22 first ids
-- One row with a null id, whose schedule time is when the transaction began; and one per task that
-- was made or changed: id, lane, priority, whether ready, schedule time (null: it runs, or is
-- paused) and time now in microseconds, the id that it was to get, outcome (1 created, 3 replaced,
-- 4 restarted, 5 rerun), stage, state (1 scheduled, 2 ready, 3 leased, 4 succeeded, 5 failed,
-- 6 cancelled; null: as ready says, and leased if rerun). Then one per task whose key another one
-- holds (outcome 2): that one's id and state, also of those that were changed.
-- A concurrent call with the same key or request id is waited for, not overtaken. An error 40001
-- says that a task or key changed beside the statement: try again. One row that is null but for
-- outcome 6, or an error 23505: a key exists whose policy is to reject that.
SELECT e.id, e.lane, e.priority, e.can_run, e.run_us, e.now_us, e.wanted_id, e.outcome, e.stage,
       e.state
FROM skiplane.enqueue_once(
  $1::int8[], $2::int8[], $3::timestamptz[], $4::int8[], $5::int4[], $6::int2[], $7::text[],
  $8::text[], $9::bytea[], $10::text[], $11::int8[], $12::int2[], $13::int8[], $14::int2[],
  $15::int8[], $16::text[], $17::text[], $18::int2[], $19::int8[], $20::text[], $21::bytea[],
  $22::int8[], false) AS e
