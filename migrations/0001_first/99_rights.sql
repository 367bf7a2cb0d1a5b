-- PUBLIC may do nothing in the schema: neither call a function nor use the type. What brokers need
-- whose role is not the owner is granted by the owner; docs/OPERATIONS.md lists it.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA skiplane FROM PUBLIC;
REVOKE USAGE ON TYPE skiplane.new_task FROM PUBLIC;

-- Roles are the whole cluster's: this one may exist already, or not be ours to make.
DO $$
BEGIN
  BEGIN
    CREATE ROLE skiplane_producer NOLOGIN;
  EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
    WHEN insufficient_privilege THEN
      RAISE NOTICE 'role skiplane_producer cannot be made by %: see deploy/sql-producer.sql',
        current_user;
      RETURN;
  END;
  GRANT USAGE ON SCHEMA skiplane TO skiplane_producer;
  GRANT USAGE ON TYPE skiplane.new_task TO skiplane_producer;
  GRANT EXECUTE ON FUNCTION skiplane.make_task, skiplane.enqueue, skiplane.enqueue_json,
    skiplane.enqueue_many, skiplane.sql_api_version TO skiplane_producer;
  -- Who reads a view calls its functions.
  GRANT EXECUTE ON FUNCTION skiplane.worker_handle TO skiplane_producer;
  GRANT SELECT ON skiplane.tasks, skiplane.failed_tasks, skiplane.attempts, skiplane.queues,
    skiplane.workers TO skiplane_producer;
END $$;
