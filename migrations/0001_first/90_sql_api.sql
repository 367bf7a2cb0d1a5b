-- The ground of the SQL API, by which services that share the database enqueue inside their own
-- transactions: what a task is, and what is wrong with it. What may change in later versions is in
-- docs/SQL.md.

-- The version of all that docs/SQL.md describes.
CREATE FUNCTION skiplane.sql_api_version() RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 1;

-- A task as producers ask for it; null everywhere but in the payload stands for the default. To be
-- made by skiplane.make_task, since later versions may have more in it.
CREATE TYPE skiplane.new_task AS (
  payload       bytea,
  key           text,
  key_policy    text,
  version       bigint,
  priority      int,
  delay         interval,
  schedule_time timestamptz,
  max_attempts  int,
  headers       jsonb,
  content_type  text,
  stage         text,
  period        interval,
  cron          text,
  time_zone     text,
  catch_up      text
);

CREATE FUNCTION skiplane.make_task(
  payload bytea, key text DEFAULT NULL, key_policy text DEFAULT 'keep', version bigint DEFAULT NULL,
  priority int DEFAULT 0, delay interval DEFAULT NULL, schedule_time timestamptz DEFAULT NULL,
  max_attempts int DEFAULT NULL, headers jsonb DEFAULT NULL, content_type text DEFAULT NULL,
  stage text DEFAULT NULL, period interval DEFAULT NULL, cron text DEFAULT NULL,
  time_zone text DEFAULT NULL, catch_up text DEFAULT 'skip_missed')
RETURNS skiplane.new_task LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ROW(payload, key, key_policy, version, priority, delay, schedule_time, max_attempts, headers,
           content_type, stage, period, cron, time_zone, catch_up)::skiplane.new_task;

-- A queue that takes tasks. Raises 22023, 42704 or 55000 if there is none.
CREATE FUNCTION skiplane.open_queue(queue text, OUT settings jsonb, OUT lanes bigint[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
  paused smallint;
BEGIN
  SELECT q.settings, q.pause_mode,
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

-- Raises 53400 if the queue has no room for so many tasks more (max_depth).
CREATE FUNCTION skiplane.check_room(queue text, settings jsonb, lanes bigint[], wanted int)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  tasks bigint;
BEGIN
  SELECT coalesce(sum(a.waiting + a.leased), 0) INTO tasks
  FROM (
    SELECT c.waiting, c.leased FROM skiplane.counter c WHERE c.lane = ANY (lanes)
    UNION ALL
    SELECT d.waiting, d.leased FROM skiplane.counter_delta d WHERE d.lane = ANY (lanes)
  ) a;
  IF tasks + wanted > (settings ->> 'max_depth')::bigint THEN
    RAISE 'queue: "%" has % tasks that are not finished, and % are to come; at most % (max_depth): '
          'repeat the transaction when some are done', queue, tasks, wanted,
          settings ->> 'max_depth' USING ERRCODE = '53400';
  END IF;
END $$;

-- Why the queue cannot take the task, beginning with the argument that must change; null if it can.
-- The bounds are those of server/model/limits.h.
CREATE FUNCTION skiplane.task_problem(settings jsonb, task skiplane.new_task) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  bytes_max CONSTANT int := coalesce((settings ->> 'max_payload_bytes')::int, 1048576);
  policy CONSTANT text := coalesce(task.key_policy, 'keep');
BEGIN
  RETURN CASE
    WHEN task.payload IS NULL THEN 'payload: is missing; give '''' for an empty one'
    WHEN octet_length(task.payload) > bytes_max THEN format(
      'payload: has %s bytes; at most %s in this queue', octet_length(task.payload), bytes_max)
    WHEN task.key = '' THEN 'key: must not be empty; leave it out for a task without a key'
    WHEN octet_length(task.key) > 255 THEN
      format('key: has %s bytes; at most 255', octet_length(task.key))
    WHEN policy NOT IN ('keep', 'keep_unfinished', 'rerun_if_newer', 'replace_waiting', 'reject',
                        'schedule')
      THEN 'key_policy: must be keep, keep_unfinished, rerun_if_newer, replace_waiting, reject or '
           'schedule'
    WHEN policy <> 'keep' AND task.key IS NULL THEN 'key_policy: must be left out without a key'
    WHEN policy = 'schedule' AND task.period IS NULL AND task.cron IS NULL
      THEN 'key_policy: must not be schedule without period or cron'
    WHEN task.version < 1 THEN 'version: must be 1 or more; leave it out for none'
    WHEN task.version > 0 AND task.key IS NULL THEN 'version: must be left out without a key'
    WHEN task.version > 0 AND policy = 'schedule' THEN 'version: must be left out with schedule'
    WHEN policy = 'rerun_if_newer' AND task.version IS NULL
      THEN 'version: must be given with rerun_if_newer'
    WHEN task.priority NOT BETWEEN -32768 AND 32767
      THEN format('priority: is %s; must be -32768 to 32767', task.priority)
    WHEN task.delay IS NOT NULL AND task.schedule_time IS NOT NULL
      THEN 'delay: must be left out with schedule_time'
    WHEN task.delay NOT BETWEEN '0' AND '3653 days' THEN 'delay: must be 0 to 3653 days'
    WHEN task.schedule_time > clock_timestamp() + interval '3653 days'
      THEN 'schedule_time: is more than 10 years ahead'
    WHEN task.max_attempts NOT BETWEEN 1 AND 1000
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
    WHEN task.catch_up NOT IN ('skip_missed', 'run_all')
      THEN 'catch_up: must be skip_missed or run_all'
    WHEN task.catch_up = 'run_all' AND task.period IS NULL AND task.cron IS NULL
      THEN 'catch_up: must be left out without period or cron'
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
    AS t(payload, key, key_policy, version, priority, delay, schedule_time, max_attempts, headers,
         content_type, stage, period, cron, time_zone, catch_up, lane, ordinality)
  CROSS JOIN LATERAL (SELECT * FROM skiplane.task_key o
                      WHERE o.lane = t.lane AND o.key = t.key OFFSET 0) k
  WHERE t.key_policy = 'reject' ORDER BY t.ordinality LIMIT 1;
  IF found IS NULL THEN
    RAISE 'key: two tasks of the call have the same key; nothing was made' USING ERRCODE = '23505';
  END IF;
  RAISE 'key: task %-% holds the key of task % of the call; nothing was made', found.lane,
    found.task_id, found.ordinality USING ERRCODE = '23505';
END $$;
