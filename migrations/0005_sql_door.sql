-- The ground of the SQL door: services that share the database enqueue inside their own
-- transactions. 0006 has the functions that they call, 0007 the views and the rights.
--
-- What may change in later versions is in docs/SQL.md.

-- The version of all that docs/SQL.md describes.
CREATE FUNCTION skiplane.sql_api_version() RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 1;

-- Numbers of tasks made by SQL have a range of their own: a block of 4,096 for each transaction
-- would be a waste, and a number in use twice a disaster. Both ranges are exact in a double.
ALTER SEQUENCE skiplane.task_id MAXVALUE 4503599627366400;  -- the last block below 2^52
CREATE SEQUENCE skiplane.task_id_sql MINVALUE 4503599627370496 MAXVALUE 9007199254740991;

-- Set by the SQL door: a hint goes out when its transaction commits.
ALTER TABLE skiplane.counter_delta
  ADD priority smallint,
  ADD hint_at  timestamptz;  -- the least run time of what waits

-- Tells the brokers what a transaction enqueued, as the last thing before its commit: nobody knows
-- earlier how long it takes. Once for each lane, stage and priority.
--
-- Commits with a NOTIFY stand in line, each with a flush of its own. So of those that commit at the
-- same time one speaks for all, and must be the last to be seen. There are two doors, one of them
-- open. Whoever commits holds the open one, shared, until all can see what it did. The first to
-- come through a door has the turn: it speaks. It waits until it is on stage, which the speaker
-- before it leaves by its commit, then closes its door, which waits for those who came through it,
-- and only then commits; the others go through the other door. Nobody waits but speakers. A wait
-- longer than lock_timeout is cut off: then the hint may come too early for a slow commit.
--
-- Run times older than 100 ms have a hint of their own, as a hint lowers the bound: for all others
-- by that and two waits.
CREATE FUNCTION skiplane.send_hint() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  place CONSTANT text := concat_ws(' ', NEW.lane, NEW.stage, NEW.priority, (NEW.due = 0)::int);
  told CONSTANT text := coalesce(current_setting('skiplane.told', true), '');
  stage CONSTANT bigint := hashtextextended(place, 7421) & -8;
  door bigint := stage + 1;
BEGIN
  IF strpos(told, '(' || place || ')') > 0 THEN RETURN NULL; END IF;
  PERFORM set_config('skiplane.told', told || '(' || place || ')', true);
  IF NEW.hint_at > clock_timestamp() - interval '100 ms' THEN
    IF NOT pg_try_advisory_xact_lock_shared(door) THEN
      door := stage + 2;
      -- For a moment both may be closed. Then it speaks for itself: no lock is named null.
      IF NOT pg_try_advisory_xact_lock_shared(door) THEN door := NULL; END IF;
    END IF;
    IF NOT pg_try_advisory_xact_lock(door + 2) THEN RETURN NULL; END IF;
    IF NOT (pg_try_advisory_xact_lock(stage) AND pg_try_advisory_xact_lock(door)) THEN
      BEGIN
        PERFORM pg_advisory_xact_lock(stage);
        PERFORM pg_advisory_xact_lock(door);
      EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
      END;
    END IF;
  END IF;
  PERFORM pg_notify('skiplane', concat_ws(' ', 'tasks -', place, NEW.waiting, (date_part('epoch',
    least(NEW.hint_at, clock_timestamp() - interval '300 ms')) * 1e6)::bigint));
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER send_hint AFTER INSERT ON skiplane.counter_delta
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.hint_at IS NOT NULL)
  EXECUTE FUNCTION skiplane.send_hint();

-- A task that waits longer than brokers go without a look of their own needs no hint.
CREATE FUNCTION skiplane.hint_time(run_at timestamptz) RETURNS timestamptz LANGUAGE sql VOLATILE
RETURN CASE WHEN run_at < clock_timestamp() + interval '10 s' THEN run_at END;

-- The lane of a key among those of its queue, as brokers compute it: FNV-1a of 64 bits with a final
-- mix. The hash is kept as two halves, since bigint has a sign and refuses to overflow.
CREATE FUNCTION skiplane.lane_of_key(lanes bigint[], key text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  bytes CONSTANT bytea := convert_to(key, 'UTF8');
  mask CONSTANT bigint := 4294967295;
  high bigint := 3421674724;  -- 0xcbf29ce4
  low bigint := 2216829733;   -- 0x84222325
  hash numeric;
  word bigint;
BEGIN
  IF cardinality(lanes) = 1 THEN RETURN lanes[1]; END IF;
  FOR i IN 0..length(bytes) - 1 LOOP
    low := low # get_byte(bytes, i);
    -- Times 2^40 + 435.
    high := (high * 435 + ((low * 435) >> 32) + (low << 8)) & mask;
    low := (low * 435) & mask;
  END LOOP;
  low := low # high;
  hash := (high * 4294967296::numeric + low) * 11400714819323198485;  -- 0x9e3779b97f4a7c15
  hash := mod(hash, 18446744073709551616);
  word := CASE WHEN hash < 9223372036854775808 THEN hash ELSE hash - 18446744073709551616 END;
  word := word # ((word >> 29) & 34359738367);
  hash := CASE WHEN word < 0 THEN word + 18446744073709551616 ELSE word::numeric END;
  RETURN lanes[1 + mod(hash, cardinality(lanes))::int];
END $$;

-- A task as producers ask for it; null everywhere but in the payload stands for the default. To be
-- made by skiplane.make_task, since later versions may have more in it.
CREATE TYPE skiplane.new_task AS (
  payload      bytea,
  key          text,
  key_policy   text,
  version      bigint,
  priority     int,
  delay        interval,
  run_at       timestamptz,
  max_attempts int,
  headers      jsonb,
  content_type text,
  stage        text,
  period       interval,
  cron         text,
  time_zone    text,
  run_all      boolean
);

CREATE FUNCTION skiplane.make_task(
  payload bytea, key text DEFAULT NULL, key_policy text DEFAULT 'keep', version bigint DEFAULT NULL,
  priority int DEFAULT 0, delay interval DEFAULT NULL, run_at timestamptz DEFAULT NULL,
  max_attempts int DEFAULT NULL, headers jsonb DEFAULT NULL, content_type text DEFAULT NULL,
  stage text DEFAULT NULL, period interval DEFAULT NULL, cron text DEFAULT NULL,
  time_zone text DEFAULT NULL, run_all boolean DEFAULT false)
RETURNS skiplane.new_task LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ROW(payload, key, key_policy, version, priority, delay, run_at, max_attempts, headers,
           content_type, stage, period, cron, time_zone, run_all)::skiplane.new_task;

-- The number of a stage of the queue's pipeline. Null if it has none of this name.
CREATE FUNCTION skiplane.stage_number(settings jsonb, stage text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN coalesce(stage, '') = '' THEN 0 ELSE (
  SELECT s.n - 1 FROM jsonb_array_elements(settings -> 'stages') WITH ORDINALITY AS s(stage, n)
  WHERE s.stage ->> 'name' = stage_number.stage) END::smallint;

-- How many attempts a task has that asks for no number: its stage's, or its queue's.
CREATE FUNCTION skiplane.attempts_of(settings jsonb, stage smallint) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(coalesce(settings -> 'stages' -> stage::int -> 'retry', settings -> 'retry')
                ->> 'max_attempts', '10')::int;

-- A queue that takes tasks. Raises 22023, 42704 or 55000 if there is none.
CREATE FUNCTION skiplane.open_queue(queue text, OUT settings jsonb, OUT lanes bigint[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
  paused smallint;
BEGIN
  SELECT q.settings, q.pause,
         ARRAY(SELECT l.lane FROM skiplane.queue_lane l WHERE l.queue_id = q.id ORDER BY l.ordinal)
  INTO settings, paused, lanes
  FROM skiplane.queue q WHERE q.name = open_queue.queue;
  IF queue ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' IS NOT TRUE THEN
    RAISE 'queue: must be 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit'
      USING ERRCODE = '22023';
  ELSIF settings IS NULL THEN
    RAISE 'queue: "%" does not exist: create it at a broker', queue USING ERRCODE = '42704';
  ELSIF paused & 2 <> 0 THEN
    RAISE 'queue: enqueues to "%" are paused: repeat the transaction after it was resumed', queue
      USING ERRCODE = '55000';
  END IF;
END $$;

-- Why the queue cannot take the task, beginning with the argument that must change; null if it can.
-- The bounds are those of server/model/limits.h.
CREATE FUNCTION skiplane.task_problem(settings jsonb, task skiplane.new_task) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  bytes_max CONSTANT int := coalesce((settings ->> 'payload_bytes_max')::int, 1048576);
  policy CONSTANT text := coalesce(task.key_policy, 'keep');
BEGIN
  RETURN CASE
    WHEN task.payload IS NULL THEN 'payload: is missing; give '''' for an empty one'
    WHEN octet_length(task.payload) > bytes_max THEN format(
      'payload: has %s bytes; at most %s in this queue', octet_length(task.payload), bytes_max)
    WHEN task.key = '' THEN 'key: must not be empty; leave it out for a task without a key'
    WHEN octet_length(task.key) > 255 THEN
      format('key: has %s bytes; at most 255', octet_length(task.key))
    WHEN policy NOT IN ('keep', 'keep_unfinished', 'rerun_if_newer', 'replace_waiting', 'reject')
      THEN 'key_policy: must be keep, keep_unfinished, rerun_if_newer, replace_waiting or reject'
    WHEN policy <> 'keep' AND task.key IS NULL THEN 'key_policy: must be left out without a key'
    WHEN task.version < 0 THEN 'version: must not be negative'
    WHEN task.version > 0 AND task.key IS NULL THEN 'version: must be left out without a key'
    WHEN policy = 'rerun_if_newer' AND coalesce(task.version, 0) = 0
      THEN 'version: must be given with rerun_if_newer'
    WHEN task.priority NOT BETWEEN -32768 AND 32767
      THEN format('priority: is %s; must be -32768 to 32767', task.priority)
    WHEN task.delay IS NOT NULL AND task.run_at IS NOT NULL
      THEN 'delay: must be left out with run_at'
    WHEN task.delay NOT BETWEEN '0' AND '3653 days' THEN 'delay: must be 0 to 3653 days'
    WHEN task.run_at > clock_timestamp() + interval '3653 days'
      THEN 'run_at: is more than 10 years ahead'
    WHEN task.max_attempts NOT BETWEEN 0 AND 1000
      THEN format('max_attempts: is %s; must be 1 to 1000', task.max_attempts)
    WHEN octet_length(task.content_type) > 255 THEN
      format('content_type: has %s bytes; at most 255', octet_length(task.content_type))
    WHEN skiplane.stage_number(settings, task.stage) IS NULL
      THEN 'stage: must be one of the queue''s stages'
    WHEN task.period IS NOT NULL AND task.cron IS NOT NULL THEN 'period: must be left out with cron'
    WHEN date_trunc('year', task.period) <> '0' OR date_part('month', task.period) <> 0
      THEN 'period: must be in days or less: months differ in length'
    WHEN task.period NOT BETWEEN '1 s' AND '3653 days' THEN 'period: must be 1 s to 3653 days'
    WHEN octet_length(task.cron) > 255 THEN 'cron: must have at most 255 bytes'
    WHEN octet_length(task.time_zone) > 64 THEN 'time_zone: must have at most 64 bytes'
    WHEN task.time_zone <> '' AND task.cron IS NULL THEN 'time_zone: must be left out without cron'
    WHEN task.run_all AND task.period IS NULL AND task.cron IS NULL
      THEN 'run_all: must be left out without period or cron'
    WHEN task.headers IS NOT NULL AND skiplane.headers_problem(task.headers) IS NOT NULL
      THEN 'headers: ' || skiplane.headers_problem(task.headers)
    WHEN task.cron IS NOT NULL
      THEN skiplane.cron_problem(task.cron, coalesce(nullif(task.time_zone, ''), 'UTC'))
  END;
END $$;

CREATE FUNCTION skiplane.headers_problem(headers jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(headers) <> 'object' THEN 'must be an object of texts' ELSE (
  SELECT CASE
    WHEN count(*) > 64 THEN format('has %s entries; at most 64', count(*))
    WHEN NOT coalesce(bool_and(jsonb_typeof(h.value) = 'string'), true) THEN 'must be texts'
    WHEN NOT coalesce(bool_and(octet_length(h.key) BETWEEN 1 AND 128), true)
      THEN 'names must have 1 to 128 bytes'
    WHEN max(octet_length(h.value #>> '{}')) > 4096 THEN 'texts must have at most 4096 bytes' END
  FROM jsonb_each(headers) AS h) END;

-- Who holds the key of a task that was to be refused if somebody does.
CREATE FUNCTION skiplane.refuse_key(task_lanes bigint[], tasks skiplane.new_task[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  SELECT t.ordinality, k.lane, k.task_id INTO found
  FROM unnest(tasks, task_lanes) WITH ORDINALITY
    AS t(payload, key, key_policy, version, priority, delay, run_at, max_attempts, headers,
         content_type, stage, period, cron, time_zone, run_all, lane, ordinality)
  CROSS JOIN LATERAL (SELECT * FROM skiplane.task_key o
                      WHERE o.lane = t.lane AND o.key = t.key OFFSET 0) k
  WHERE t.key_policy = 'reject' ORDER BY t.ordinality LIMIT 1;
  IF found IS NULL THEN
    RAISE 'key: two tasks of the call have the same key; nothing was made' USING ERRCODE = '23505';
  END IF;
  RAISE 'key: task %-% holds the key of task % of the call; nothing was made', found.lane,
    found.task_id, found.ordinality USING ERRCODE = '23505';
END $$;
