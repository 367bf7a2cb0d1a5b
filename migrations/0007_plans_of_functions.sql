-- As version 4, of two functions: a statement for single rows must not be able to read all of a
-- lane. Each change stands once in its function; the rest stays as version 1 has it.
DO $$
DECLARE
  change text[];
  definition text;
BEGIN
  FOREACH change SLICE 1 IN ARRAY ARRAY[
    -- The task that holds a key, as it is declared.
    ['skiplane.declare_schedules',
     E'    WHERE o.lane = w.lane AND o.id = k.task_id\n  ) t',
     E'    WHERE o.lane = w.lane AND o.id = k.task_id OFFSET 0\n  ) t'],
    -- Failed tasks that start again.
    ['skiplane.enqueue_once',
     E'  DELETE FROM skiplane.task_failed f\n'
     '  WHERE f.lane = ANY (ARRAY(SELECT c.lane FROM chosen c WHERE c.outcome = 4))\n'
     '    AND f.id = ANY (ARRAY(SELECT c.task_id FROM chosen c WHERE c.outcome = 4))\n',
     E'  DELETE FROM skiplane.task_failed f USING chosen c\n'
     '  WHERE c.outcome = 4 AND f.lane = ANY (ARRAY[c.lane]) AND f.id = c.task_id\n']]
  LOOP
    definition := pg_get_functiondef(change[1]::regproc);
    IF cardinality(string_to_array(definition, change[2])) <> 2 THEN
      RAISE EXCEPTION '% is not as version 1 has it', change[1];
    END IF;
    EXECUTE replace(definition, change[2], change[3]);
  END LOOP;
END $$;
