-- Large payloads are compressed at each write: lz4 does it in a fraction of pglz's time. What is
-- stored stays as it is, and is read as before. A server that was built without lz4 goes on with
-- pglz. Partitions that are made later take it from their parents.
--
-- The tables come in the order in which statements lock them, so that a broker that runs meanwhile
-- waits and does not deadlock.
DO $$
DECLARE
  part regclass;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_settings
                 WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    RETURN;
  END IF;
  ALTER TABLE skiplane.task
    ALTER payload SET COMPRESSION lz4, ALTER own_payload SET COMPRESSION lz4;
  FOR part IN
    SELECT t.relid FROM pg_partition_tree('skiplane.task_failed') t ORDER BY t.level, t.relid
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER payload SET COMPRESSION lz4', part);
  END LOOP;
  FOR part IN
    SELECT t.relid FROM pg_partition_tree('skiplane.history') t ORDER BY t.level, t.relid
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER payload SET COMPRESSION lz4, '
                   'ALTER result SET COMPRESSION lz4', part);
  END LOOP;
END $$;
