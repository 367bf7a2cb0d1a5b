-- The days of pack_history come and go with those of history. Each change stands once in its
-- function; the rest stays as version 1 has it.
DO $$
DECLARE
  change text[];
  definition text;
BEGIN
  FOREACH change SLICE 1 IN ARRAY ARRAY[
    ['skiplane.make_partitions',
     E'      SELECT ''history'' AS parent, 7 AS days\n',
     E'      SELECT ''history'' AS parent, 7 AS days\n'
     '      UNION SELECT ''pack_history'', 7\n'
     '      UNION SELECT ''pack_history'', (q.settings ->> ''history_days'')::int\n'
     '            FROM skiplane.queue q WHERE q.settings ? ''history_days''\n'],
    ['skiplane.drop_partition',
     '(''skiplane.history''::regclass, ',
     E'(''skiplane.history''::regclass, ''skiplane.pack_history''::regclass,\n'
     '                        ']]
  LOOP
    definition := pg_get_functiondef(change[1]::regproc);
    IF cardinality(string_to_array(definition, change[2])) <> 2 THEN
      RAISE EXCEPTION '% is not as version 1 has it', change[1];
    END IF;
    EXECUTE replace(definition, change[2], change[3]);
  END LOOP;
END $$;

SELECT skiplane.make_partitions(7);
