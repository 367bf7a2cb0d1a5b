-- The roles of those who use the schema; 99_rights says what each of them may. Roles are the whole
-- cluster's: they may exist already, made for another database, or not be ours to make.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY
    '{skiplane_owner,skiplane_broker,skiplane_producer,skiplane_reader}'::text[]
  LOOP
    CONTINUE WHEN to_regrole(name) IS NOT NULL;
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END LOOP;
END $$;

-- All belongs to skiplane_owner if it is ours to give away: functions that run as their owner run
-- as a role that owns nothing else, also where a superuser migrates, and every member may migrate
-- later. The rest of this version is made by that role.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles r
             WHERE r.rolname = 'skiplane_owner' AND pg_has_role(r.oid, 'USAGE')) THEN
    ALTER SCHEMA skiplane OWNER TO skiplane_owner;
    ALTER TABLE skiplane.schema_version OWNER TO skiplane_owner;
    SET LOCAL ROLE skiplane_owner;
  END IF;
END $$;
