-- Schedules that services declare at each start: what enqueue_once does for tasks of the key policy
-- schedule whose key is known. A key that is new makes a task, and a finished one starts again, as
-- with every other policy.

-- When tasks start whose schedule is declared for a key that is known: with a period, one period
-- from now, unless they name a start in the future. Nobody asked for a run beside the planned ones.
-- starts and delays as enqueue_once has them, of all tasks of the call. new_ids: tasks whose keys
-- are new, which start as they say.
CREATE FUNCTION skiplane.declared_starts(
  ids bigint[], policies smallint[], periods bigint[], new_ids bigint[],
  INOUT starts timestamptz[], INOUT delays bigint[])
LANGUAGE sql VOLATILE AS $$
  SELECT array_agg(CASE WHEN NOT w.is_put_off THEN w.start_at END ORDER BY w.n),
         array_agg(CASE WHEN w.is_put_off THEN w.period ELSE w.delay END ORDER BY w.n)
  FROM (
    SELECT u.start_at, u.delay, u.period, u.n,
           u.policy = 6 AND u.period IS NOT NULL AND u.delay = 0 AND u.id <> ALL (new_ids)
             AND coalesce(u.start_at <= clock_timestamp(), true) AS is_put_off
    FROM unnest(ids, policies, periods, starts, delays) WITH ORDINALITY
      AS u(id, policy, period, start_at, delay, n)
  ) w
$$;

-- Gives living tasks the schedules and contents that were declared for their keys, the last one of
-- each key. The columns are those of enqueue_once, which has made its tasks and has locked these
-- tasks and keys before; asked: calls whose request ids are ours.
-- The same schedule keeps its planned time. With another one a task that waits goes to its next
-- planned time, what it would have retried with it; a run that is under way, between two stages of
-- a pipeline, too, goes on, and its end finds the new plan. At a later stage the content is the
-- run's own and stays: what is declared is that of the next run. A paused task stays so.
-- One row per task that was changed, as enqueue_once has them, with its state; the schedule time
-- is null if the task does not wait for it.
CREATE FUNCTION skiplane.declare_schedules(
  lanes bigint[], ids bigint[], starts timestamptz[], delays bigint[], attempts int[],
  priorities smallint[], content_types text[], headers text[], payloads bytea[], keys text[],
  calls bigint[], policies smallint[], stages smallint[], periods bigint[], crons text[],
  time_zones text[], catch_ups smallint[], asked bigint[], notifies boolean)
RETURNS TABLE (id bigint, lane bigint, priority smallint, can_run boolean, run_us bigint,
               now_us bigint, wanted_id bigint, outcome int, stage smallint, state smallint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
RETURN QUERY
WITH want AS MATERIALIZED (
  SELECT w.*,
         CASE WHEN w.cron IS NULL THEN w.not_before
              ELSE skiplane.cron_next(w.cron, coalesce(w.time_zone, 'UTC'),
                                      w.not_before - interval '1 microsecond')
         END AS next_planned
  FROM (
    SELECT DISTINCT ON (u.lane, u.key) u.*, n.at,
           greatest(coalesce(u.start_at, n.at + u.delay * interval '1 microsecond'), n.at)
             AS not_before
    FROM unnest(lanes, ids, starts, delays, attempts, priorities, content_types, headers, payloads,
                keys, calls, policies, stages, periods, crons, time_zones, catch_ups)
      AS u(lane, id, start_at, delay, max_attempts, priority, content_type, headers, payload, key,
           call, policy, stage, period, cron, time_zone, catch_up)
    CROSS JOIN (SELECT clock_timestamp() AS at OFFSET 0) n
    WHERE u.policy = 6 AND (u.call = 0 OR u.call = ANY (asked))
    ORDER BY u.lane, u.key, u.id DESC
  ) w
), known AS MATERIALIZED (
  SELECT w.*, k.task_id, t.place, t.old_due, t.old_fingerprint, t.schedule_fits,
         NOT t.content_fits AS takes_content, t.stage_fits AS is_at_first_stage,
         t.state = 2 OR NOT t.stage_fits AS is_under_way
  FROM want w
  CROSS JOIN LATERAL (
    SELECT o.task_id FROM skiplane.task_key o
    WHERE o.lane = w.lane AND o.key = w.key AND o.end_time IS NULL
      AND o.task_id <> w.id OFFSET 0
  ) k
  CROSS JOIN LATERAL (
    SELECT o.ctid AS place, o.state, o.due AS old_due, o.error_fingerprint AS old_fingerprint,
           o.stage IN (0, w.stage) AS stage_fits,
           (o.period, o.cron, coalesce(o.time_zone, 'UTC'), coalesce(o.catch_up, 1))
             IS NOT DISTINCT FROM
             (w.period, w.cron, coalesce(w.time_zone, 'UTC'), w.catch_up) AS schedule_fits,
           (o.priority, coalesce(o.own_payload, o.payload),
            CASE WHEN o.own_payload IS NULL THEN o.content_type ELSE o.own_content_type END,
            CASE WHEN o.own_payload IS NULL THEN o.headers ELSE o.own_headers END,
            coalesce(o.own_max_attempts, o.max_attempts))
             IS NOT DISTINCT FROM
             (w.priority, w.payload, w.content_type, w.headers::jsonb, w.max_attempts)
             AS content_fits
    FROM skiplane.task o
    WHERE o.lane = w.lane AND o.id = k.task_id
  ) t
), chosen AS MATERIALIZED (
  SELECT k.*, NOT k.schedule_fits AND NOT k.is_under_way AS is_moved,
         k.takes_content AND k.is_at_first_stage AS takes_it_now,
         k.takes_content AND NOT k.is_at_first_stage AS takes_it_later
  FROM known k WHERE k.takes_content OR NOT k.schedule_fits
), changed AS (
  UPDATE skiplane.task t
  SET payload = CASE WHEN c.takes_it_now THEN c.payload ELSE t.payload END,
      content_type = CASE WHEN c.takes_it_now THEN c.content_type ELSE t.content_type END,
      headers = CASE WHEN c.takes_it_now THEN c.headers::jsonb ELSE t.headers END,
      max_attempts = CASE WHEN c.takes_it_now THEN c.max_attempts ELSE t.max_attempts END,
      own_payload = CASE WHEN c.takes_it_later THEN c.payload
                         WHEN NOT c.takes_it_now THEN t.own_payload END,
      own_content_type = CASE WHEN c.takes_it_later THEN c.content_type
                              WHEN NOT c.takes_it_now THEN t.own_content_type END,
      own_headers = CASE WHEN c.takes_it_later THEN c.headers::jsonb
                         WHEN NOT c.takes_it_now THEN t.own_headers END,
      own_max_attempts = CASE WHEN c.takes_it_later THEN c.max_attempts
                              WHEN NOT c.takes_it_now THEN t.own_max_attempts END,
      priority = CASE WHEN c.takes_content THEN c.priority ELSE t.priority END,
      period = c.period, cron = c.cron, time_zone = c.time_zone,
      catch_up = nullif(c.catch_up, 1),
      planned_time = CASE WHEN c.schedule_fits THEN t.planned_time ELSE c.next_planned END,
      schedule_time = CASE WHEN c.is_moved AND t.paused IS NULL THEN c.next_planned
                           ELSE t.schedule_time END,
      due = CASE WHEN c.is_moved AND t.paused IS NULL THEN skiplane.due_slot(c.next_planned, c.at)
                 ELSE t.due END,
      attempt = CASE WHEN c.is_moved THEN 0 ELSE t.attempt END,
      error_type = CASE WHEN NOT c.is_moved THEN t.error_type END,
      error_fingerprint = CASE WHEN NOT c.is_moved THEN t.error_fingerprint END,
      error_text = CASE WHEN NOT c.is_moved THEN t.error_text END,
      last_progress = CASE WHEN NOT c.is_moved AND NOT c.takes_it_now THEN t.last_progress END
  FROM chosen c
  WHERE t.lane = c.lane AND t.ctid = c.place
  RETURNING t.lane, t.id, c.id AS wanted_id, c.is_moved, c.old_due, c.old_fingerprint, t.priority,
            t.due, t.schedule_time, t.stage,
            t.state = 1 AND t.schedule_time < 'infinity' AS waits,
            CASE WHEN t.state = 2 THEN 3 WHEN t.schedule_time <= clock_timestamp() THEN 2
                 ELSE 1 END::int2 AS state
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, priority, notify_time)
  SELECT c.lane, c.stage, c.old_due, -count(*), NULL, NULL
  FROM changed c WHERE c.waits GROUP BY c.lane, c.stage, c.old_due
  UNION ALL
  SELECT c.lane, c.stage, c.due, count(*), CASE WHEN notifies THEN c.priority END,
         CASE WHEN notifies THEN skiplane.notify_time_of(min(c.schedule_time)) END
  FROM changed c WHERE c.waits
  GROUP BY c.lane, c.stage, c.due, CASE WHEN notifies THEN c.priority END
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, fingerprint, retrying)
  SELECT c.lane, c.stage, c.old_fingerprint, -count(*)
  FROM changed c WHERE c.is_moved AND c.old_fingerprint IS NOT NULL
  GROUP BY c.lane, c.stage, c.old_fingerprint
)
SELECT c.id, c.lane, c.priority, c.due = 0,
       CASE WHEN c.waits THEN (date_part('epoch', c.schedule_time) * 1e6)::int8 END,
       (date_part('epoch', clock_timestamp()) * 1e6)::int8, c.wanted_id, 3, c.stage, c.state
FROM changed c;
END $$;
