-- Who may do what, all in one place; as far as this version has more than the first.
REVOKE EXECUTE ON FUNCTION skiplane.enqueue_asked, skiplane.leading_bigint, skiplane.request_hash,
  skiplane.share_request_id FROM PUBLIC;

-- Grants the roles what they may, as far as they exist; may be repeated. A later version that makes
-- something replaces this function, and calls it. What it does not name only the owner may use.
CREATE OR REPLACE FUNCTION skiplane.grant_rights() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Brokers: what their statements do, and no more. FOR UPDATE needs UPDATE. Partitions are reached
  -- through their tables, made and dropped by functions that run as their owner.
  IF to_regrole('skiplane_broker') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA skiplane TO skiplane_broker;
    GRANT SELECT ON skiplane.schema_version TO skiplane_broker;
    GRANT SELECT, INSERT ON skiplane.audit, skiplane.history, skiplane.queue_lane
      TO skiplane_broker;
    GRANT SELECT, INSERT, UPDATE ON skiplane.clock_step, skiplane.queue, skiplane.upkeep_lead
      TO skiplane_broker;
    GRANT SELECT, INSERT, DELETE ON skiplane.answered_request, skiplane.task_failed,
      skiplane.token_key TO skiplane_broker;
    GRANT SELECT, UPDATE, DELETE ON skiplane.history_default, skiplane.task_failed_default
      TO skiplane_broker;
    GRANT SELECT, INSERT, UPDATE, DELETE ON skiplane.admin_request, skiplane.broker,
      skiplane.bulk_operation, skiplane.counter, skiplane.counter_delta, skiplane.enqueue_request,
      skiplane.error_delta, skiplane.error_group, skiplane.hour_statistics, skiplane.lease_ledger,
      skiplane.settled, skiplane.task, skiplane.task_key, skiplane.worker_session
      TO skiplane_broker;
    GRANT USAGE ON SEQUENCE skiplane.task_id TO skiplane_broker;
    GRANT EXECUTE ON FUNCTION skiplane.cron_mask, skiplane.cron_masks, skiplane.cron_next,
      skiplane.cron_problem, skiplane.cron_wall, skiplane.declare_schedules,
      skiplane.declared_starts, skiplane.drop_partition, skiplane.due_slot, skiplane.enqueue_asked,
      skiplane.enqueue_once, skiplane.is_rejected, skiplane.key_holders, skiplane.leading_bigint,
      skiplane.lowest_bit, skiplane.make_partitions, skiplane.next_planned_time,
      skiplane.notify_time_of, skiplane.request_hash, skiplane.worker_handle,
      skiplane.zone_offset TO skiplane_broker;
  END IF;

  -- Services that enqueue by SQL: the calls of docs/SQL.md, which run as their owner.
  IF to_regrole('skiplane_producer') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA skiplane TO skiplane_producer;
    GRANT USAGE ON TYPE skiplane.new_task TO skiplane_producer;
    GRANT EXECUTE ON FUNCTION skiplane.make_task, skiplane.enqueue, skiplane.enqueue_json,
      skiplane.enqueue_many, skiplane.sql_api_version TO skiplane_producer;
  END IF;

  -- People who look: the views. Who reads a view calls its functions.
  IF to_regrole('skiplane_reader') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA skiplane TO skiplane_reader;
    GRANT SELECT ON skiplane.tasks, skiplane.failed_tasks, skiplane.attempts, skiplane.queues,
      skiplane.workers TO skiplane_reader;
    GRANT EXECUTE ON FUNCTION skiplane.sql_api_version, skiplane.worker_handle TO skiplane_reader;
  END IF;
END $$;

SELECT skiplane.grant_rights();
