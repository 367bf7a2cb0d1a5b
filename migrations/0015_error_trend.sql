-- How many attempts failed like an error group, by hour. Brokers of before go on beside: what they
-- settle or fold is not among it.
ALTER TABLE skiplane.error_delta
  ADD failures bigint NOT NULL DEFAULT 0;  -- attempts that failed, at seen_time
ALTER TABLE skiplane.error_group
  -- Of the last two days, by the number of the hour since 1970: {"494000": 12}.
  ADD hourly_failures jsonb NOT NULL DEFAULT '{}';

-- The sums of two such values, from an hour on.
CREATE FUNCTION skiplane.add_hours(one jsonb, other jsonb, first_hour bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(h.hour, h.amount), '{}')
  FROM (
    SELECT e.key AS hour, sum(e.value::int8) AS amount
    FROM (SELECT * FROM jsonb_each_text(one) UNION ALL SELECT * FROM jsonb_each_text(other)) e
    WHERE e.key::int8 >= first_hour GROUP BY e.key
  ) h
$$;
REVOKE EXECUTE ON FUNCTION skiplane.add_hours FROM PUBLIC;

-- Who may do what with it. grant_rights is as version 14 has it, but for this line.
DO $$
DECLARE
  definition text := pg_get_functiondef('skiplane.grant_rights'::regproc);
  old CONSTANT text := 'GRANT EXECUTE ON FUNCTION skiplane.purge_lane,';
BEGIN
  IF cardinality(string_to_array(definition, old)) <> 2 THEN
    RAISE EXCEPTION 'grant_rights is not as version 14 has it';
  END IF;
  EXECUTE replace(definition, old,
    'GRANT EXECUTE ON FUNCTION skiplane.add_hours, skiplane.purge_lane,');
END $$;

SELECT skiplane.grant_rights();
