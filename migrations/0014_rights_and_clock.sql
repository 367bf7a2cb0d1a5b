-- A broker's role that does not own the tables may still make and drop days: the two functions do
-- it as their owner. And what became of the database's clock.

ALTER FUNCTION skiplane.make_partitions(int) SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION skiplane.drop_partition() SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

-- When the clock went back, as the leader of the chores saw it: one row per step.
CREATE TABLE skiplane.clock_step (
  was_at    timestamptz PRIMARY KEY,  -- the time that it would have been
  seen_at   timestamptz NOT NULL,     -- the time that it was instead
  noted_by  xid8 NOT NULL DEFAULT pg_current_xact_id(),  -- later ones wrote since
  mended_at timestamptz               -- null: tasks that were due are still to be made due again
);

ALTER TABLE skiplane.upkeep_lease ADD reclaimed_by uuid;  -- who looked for the dead last

-- As migration 7 did for functions.
DO $$
DECLARE
  broker text;
BEGIN
  FOR broker IN
    SELECT DISTINCT a.grantee::regrole::text
    FROM pg_class c, aclexplode(c.relacl) AS a
    WHERE c.oid = 'skiplane.task'::regclass AND a.privilege_type = 'INSERT'
      AND a.grantee NOT IN (0, c.relowner)
  LOOP
    EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON skiplane.clock_step TO ' || broker;
  END LOOP;
END $$;
