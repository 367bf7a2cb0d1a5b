-- The role of services that enqueue by SQL, for databases whose owner may not make roles. Run it
-- with psql as somebody who may, in the broker's database, after `skiplaned migrate`. May be
-- repeated. Then: GRANT skiplane_producer TO my_service;
DO $$
BEGIN
  IF to_regrole('skiplane_producer') IS NULL THEN
    CREATE ROLE skiplane_producer NOLOGIN;
  END IF;
END $$;
GRANT USAGE ON SCHEMA skiplane TO skiplane_producer;
GRANT USAGE ON TYPE skiplane.new_task TO skiplane_producer;
GRANT EXECUTE ON FUNCTION skiplane.make_task, skiplane.enqueue, skiplane.enqueue_json,
  skiplane.enqueue_many, skiplane.sql_api_version, skiplane.worker_handle TO skiplane_producer;
GRANT SELECT ON skiplane.tasks, skiplane.failed_tasks, skiplane.attempts, skiplane.queues,
  skiplane.workers TO skiplane_producer;
