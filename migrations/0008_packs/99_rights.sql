-- Who may do what with packs. grant_rights is as version 2 has it, but for these lines.
REVOKE EXECUTE ON FUNCTION skiplane.first_positions, skiplane.packed, skiplane.packed_attempts,
  skiplane.positions FROM PUBLIC;

DO $$
DECLARE
  change text[];
  definition text := pg_get_functiondef('skiplane.grant_rights'::regproc);
BEGIN
  FOREACH change SLICE 1 IN ARRAY ARRAY[
    ['GRANT SELECT, INSERT ON skiplane.audit, skiplane.history, skiplane.queue_lane',
     E'GRANT SELECT ON skiplane.packed_attempt, skiplane.packed_task TO skiplane_broker;\n'
     '    GRANT SELECT, INSERT, UPDATE, DELETE ON skiplane.task_pack TO skiplane_broker;\n'
     '    GRANT SELECT, INSERT ON skiplane.audit, skiplane.history, skiplane.pack_history,\n'
     '      skiplane.queue_lane'],
    ['GRANT SELECT, UPDATE, DELETE ON skiplane.history_default, ',
     E'GRANT SELECT, UPDATE, DELETE ON skiplane.history_default,\n'
     '      skiplane.pack_history_default, '],
    ['skiplane.notify_time_of, skiplane.request_hash, skiplane.worker_handle,',
     E'skiplane.notify_time_of, skiplane.first_positions, skiplane.packed,\n'
     '      skiplane.packed_attempts, skiplane.positions, skiplane.request_hash,\n'
     '      skiplane.worker_handle,']]
  LOOP
    IF cardinality(string_to_array(definition, change[1])) <> 2 THEN
      RAISE EXCEPTION 'grant_rights is not as version 2 has it: %', change[1];
    END IF;
    definition := replace(definition, change[1], change[2]);
  END LOOP;
  EXECUTE definition;
END $$;

SELECT skiplane.grant_rights();
