-- Makes the roles that docs/OPERATIONS.md explains under "Roles", for a cluster where those who
-- migrate may not make roles. Run it with psql as somebody who may, in any database. May be
-- repeated. It touches no schema: `skiplaned migrate` grants, or, where it ran before,
-- SELECT skiplane.grant_rights(); as the schema's owner.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY
    '{skiplane_owner,skiplane_broker,skiplane_producer,skiplane_reader}'::text[]
  LOOP
    IF to_regrole(name) IS NULL THEN EXECUTE format('CREATE ROLE %I NOLOGIN', name); END IF;
  END LOOP;
END $$;
