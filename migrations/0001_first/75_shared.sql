-- What statements, views and enqueues share: where a task belongs, what is its default, who hears
-- of it, and by which name a worker is known to others.

-- How counters know a task that waits for a time, as of `at`.
CREATE FUNCTION skiplane.due_slot(schedule_time timestamptz, at timestamptz) RETURNS int
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN schedule_time <= at THEN 0
              WHEN schedule_time = 'infinity' THEN 2147483647
              ELSE ceil(date_part('epoch', schedule_time) / 10)::int END
$$;

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

-- The schedule time that a notification tells. Null if it is later than brokers look by themselves:
-- such a task needs none.
CREATE FUNCTION skiplane.notify_time_of(schedule_time timestamptz) RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN CASE WHEN schedule_time < clock_timestamp() + interval '10 s' THEN schedule_time END;

-- Tells the brokers what a transaction enqueued, as the last thing before its commit: nobody knows
-- earlier how long it takes. Once for each lane, stage and priority.
--
-- Commits with a NOTIFY wait for each other, each with a flush of its own. So of the transactions
-- that commit at the same time one notifies for all, and it must be the last of them to be seen.
-- Advisory locks see to that. Whoever commits joins one of two groups: it holds the group's lock,
-- `entry`, shared, until all can see what it did. The first of a group gets `entry + 2`: it is the
-- one that notifies. It waits for `stage`, which the one before it holds until its commit. Then it
-- closes its group by `entry` itself, which waits for the members, and only then commits. Those who
-- come meanwhile join the other group. Nobody waits but the transactions that notify. A wait longer
-- than lock_timeout is cut off: then the notification may come too early for a slow commit.
-- See docs/adr/2026-11-21-one-notification-for-many.md. How many tasks the others made it cannot
-- know: it tells of 15 more, so that all who wait are served by one lease. A probe would find them
-- too, but a slow machine allows few of those.
--
-- Schedule times older than 100 ms have a notification of their own, as a notification lowers the
-- bound: for all others by that and two waits.
CREATE FUNCTION skiplane.notify_brokers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  place CONSTANT text := concat_ws(' ', NEW.lane, NEW.stage, NEW.priority, (NEW.due = 0)::int);
  told CONSTANT text := coalesce(current_setting('skiplane.notified', true), '');
  stage CONSTANT bigint := hashtextextended(place, 7421) & -8;
  entry bigint := stage + 1;
  ready_count bigint := NEW.waiting;
BEGIN
  IF strpos(told, '(' || place || ')') > 0 THEN RETURN NULL; END IF;
  PERFORM set_config('skiplane.notified', told || '(' || place || ')', true);
  IF NEW.notify_time > clock_timestamp() - interval '100 ms' THEN
    IF NOT pg_try_advisory_xact_lock_shared(entry) THEN
      entry := stage + 2;
      -- For a moment both may be closed. Then it speaks for itself: no lock is named null.
      IF NOT pg_try_advisory_xact_lock_shared(entry) THEN entry := NULL; END IF;
    END IF;
    IF NOT pg_try_advisory_xact_lock(entry + 2) THEN RETURN NULL; END IF;
    IF NOT (pg_try_advisory_xact_lock(stage) AND pg_try_advisory_xact_lock(entry)) THEN
      BEGIN
        PERFORM pg_advisory_xact_lock(stage);
        PERFORM pg_advisory_xact_lock(entry);
      EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
      END;
    END IF;
    ready_count := ready_count + 15;
  END IF;
  PERFORM pg_notify('skiplane', concat_ws(' ', 'tasks -', place, ready_count, (date_part('epoch',
    least(NEW.notify_time, clock_timestamp() - interval '300 ms')) * 1e6)::bigint));
  RETURN NULL;
END $$;

-- Deferred: it runs when the transaction commits.
CREATE CONSTRAINT TRIGGER notify_brokers AFTER INSERT ON skiplane.counter_delta
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.notify_time IS NOT NULL)
  EXECUTE FUNCTION skiplane.notify_brokers();

-- By what a worker session is told from others in public: its id proves leases, this does not.
CREATE FUNCTION skiplane.worker_handle(session uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(encode(sha256(uuid_send(session)), 'hex'), 16);
