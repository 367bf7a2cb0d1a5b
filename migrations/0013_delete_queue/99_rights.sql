-- Who may do what with them. grant_rights is as version 12 has it, but for this line.
DO $$
DECLARE
  definition text := pg_get_functiondef('skiplane.grant_rights'::regproc);
  old CONSTANT text := 'GRANT SELECT, INSERT, UPDATE ON skiplane.error_note TO skiplane_broker;';
BEGIN
  IF cardinality(string_to_array(definition, old)) <> 2 THEN
    RAISE EXCEPTION 'grant_rights is not as version 12 has it';
  END IF;
  EXECUTE replace(definition, old,
    E'GRANT EXECUTE ON FUNCTION skiplane.purge_lane, skiplane.remove_queue\n'
    '      TO skiplane_broker;\n'
    '    GRANT SELECT, INSERT, UPDATE ON skiplane.error_note TO skiplane_broker;');
END $$;

SELECT skiplane.grant_rights();
