-- The background work: who does it, and the partitions that it makes and drops.

-- Who does the chores now, and when lost sessions were last looked for.
CREATE TABLE skiplane.upkeep_lead (
  name         text PRIMARY KEY,
  holder       uuid NOT NULL,                             -- a broker
  expire_time  timestamptz NOT NULL,
  reclaim_time timestamptz NOT NULL DEFAULT '-infinity',  -- when they were looked for
  reclaimed_by uuid                                       -- the broker that did
);

-- The brokers that run, so that each of them knows whether there is a peer to notify.
CREATE TABLE skiplane.broker (
  id          uuid PRIMARY KEY,
  name        text NOT NULL,
  expire_time timestamptz NOT NULL
);

-- The keys by which brokers prove that a lease token is theirs. A new one signs from its use_time
-- on, when all brokers have read it; an old one goes when no lease is left that it may have signed.
-- Who reads them can forge tokens: they are for brokers alone.
CREATE TABLE skiplane.token_key (
  id       smallint PRIMARY KEY CHECK (id > 0),
  secret   bytea NOT NULL,
  use_time timestamptz NOT NULL
);

-- When the clock went back, as the leader of the chores saw it: one row per step.
CREATE TABLE skiplane.clock_step (
  old_time  timestamptz PRIMARY KEY,  -- the time that it would have been
  seen_time timestamptz NOT NULL,     -- the time that it was instead
  noted_by  xid8 NOT NULL DEFAULT pg_current_xact_id(),  -- later transactions wrote by the new time
  mend_time timestamptz               -- null: tasks that were due are still to be made due again
);

-- Makes the partitions of the days on which rows will expire that are written from today to
-- days_ahead days from now; how many it made. Safe to call at any time by several brokers. It and
-- drop_partition run as their owner, so that a broker's role needs not own the tables.
CREATE FUNCTION skiplane.make_partitions(days_ahead int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  made int := 0;
  day record;
BEGIN
  FOR day IN
    SELECT DISTINCT k.parent, d::date AS first,
           format('%s_%s', k.parent, to_char(d, 'YYYYMMDD')) AS part
    FROM (
      SELECT 'history' AS parent, 7 AS days
      UNION SELECT 'task_failed', 30
      UNION SELECT 'history', (q.settings ->> 'history_days')::int FROM skiplane.queue q
            WHERE q.settings ? 'history_days'
      UNION SELECT 'task_failed', (q.settings ->> 'failed_days')::int FROM skiplane.queue q
            WHERE q.settings ? 'failed_days'
    ) k
    CROSS JOIN generate_series((now() AT TIME ZONE 'UTC')::date + k.days,
                               (now() AT TIME ZONE 'UTC')::date + k.days + days_ahead,
                               interval '1 day') AS d
    ORDER BY 1, 2
  LOOP
    CONTINUE WHEN to_regclass('skiplane.' || day.part) IS NOT NULL;
    PERFORM pg_advisory_xact_lock(hashtext('skiplane.make_partitions'));
    -- A day whose rows went to the default partition already stays there: it must not keep the
    -- later days from theirs.
    BEGIN
      EXECUTE format(
        'CREATE TABLE IF NOT EXISTS skiplane.%I PARTITION OF skiplane.%I '
        'FOR VALUES FROM (%L) TO (%L)',
        day.part, day.parent, day.first::timestamp AT TIME ZONE 'UTC',
        (day.first + 1)::timestamp AT TIME ZONE 'UTC');
      made := made + 1;
    EXCEPTION WHEN check_violation THEN NULL;
    END;
  END LOOP;
  RETURN made;
END $$;

SELECT skiplane.make_partitions(7);

-- Forgets a day of history or of failed tasks that is over, at most one per call; returns its name.
-- The lock that this needs is waited for so shortly that nobody behind it notices; an error 55P03
-- says to try later. Failed tasks that go leave their error groups.
CREATE FUNCTION skiplane.drop_partition() RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  part text;
BEGIN
  SELECT c.relname INTO part
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent IN ('skiplane.history'::regclass, 'skiplane.task_failed'::regclass)
    AND c.relname ~ '_[0-9]{8}$'
    AND to_date(right(c.relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date
  ORDER BY c.relname LIMIT 1;
  IF part IS NULL THEN RETURN NULL; END IF;
  IF part LIKE 'task_failed%' THEN
    EXECUTE format(
      'INSERT INTO skiplane.error_delta (lane, stage, fingerprint, failed) '
      'SELECT f.lane, f.stage, f.error_fingerprint, -count(*) FROM skiplane.%I f '
      'WHERE f.error_fingerprint IS NOT NULL GROUP BY f.lane, f.stage, f.error_fingerprint', part);
  END IF;
  PERFORM set_config('lock_timeout', '50ms', true);
  EXECUTE format('DROP TABLE skiplane.%I', part);
  RETURN part;
END $$;
