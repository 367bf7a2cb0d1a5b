-- Cron schedules, evaluated where they are stored: the statement that plans the next run of a
-- periodic task also computes it, in one round trip and by one clock, and every broker and every
-- version of it agrees about the planned times of a schedule.
--
-- The rules:
--   Five fields (minute, hour, day of month, month, day of week), or six with seconds first.
--   A field is a list of: *  a  a-b  */n  a-b/n  a/n (from a to the end). Months and days of the
--   week have names. 0 and 7 are Sunday; SUN at the end of a range is 7, so that FRI-SUN works.
--   When neither day field begins with *, a day matches if either of them matches.
--   A local time that a change of the zone skips is moved forward by what is skipped. A local time
--   that occurs twice is planned both times if the hour field begins with *, else the first time.
--
-- Everything inside is whole seconds since 1970, as instants or as the wall clock would count them:
-- integers cost plpgsql the least, and no arithmetic depends on the session's time zone.
-- Nor does the caller's search_path matter: cron_next and cron_problem set their own (1 us a call;
-- what they call runs below it), and the bodies of SQL functions are bound when they are created.

-- One field as a bit mask: bit v is set if the value v matches. Names stand for low, low + 1, …;
-- `what` is the field's name in messages. Raises 22023.
CREATE FUNCTION skiplane.cron_mask(
  field text, low int, high int, names text[], what text DEFAULT 'field')
RETURNS int8 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  mask int8 := 0;
  part text;
  piece text[];  -- first, last, step
  first int;
  final int;
  step int;
BEGIN
  IF field = '*' THEN
    RETURN ((1::int8 << (high - low + 1)) - 1) << low;
  END IF;
  FOREACH part IN ARRAY string_to_array(coalesce(nullif(field, ''), ','), ',') LOOP
    IF part ~ '^[0-9]{1,4}$' THEN
      first := part;
      IF first BETWEEN low AND high THEN
        mask := mask | (1::int8 << first);
        CONTINUE;
      END IF;
    END IF;
    -- Upper case of ASCII: in a Turkish locale that of "fri" is another word.
    piece := regexp_match(
      upper(part COLLATE "C"),
      '^(\*(?!-)|[0-9]{1,4}|[A-Z]+)(?:-([0-9]{1,4}|[A-Z]+))?(?:/([0-9]{1,4}))?$');
    IF piece IS NULL THEN
      RAISE '% "%" is not a value, a range or a step', what, part USING ERRCODE = '22023';
    END IF;
    first := CASE WHEN piece[1] = '*' THEN low
                  WHEN piece[1] ~ '^[0-9]' THEN piece[1]::int
                  ELSE low - 1 + array_position(names, piece[1]) END;
    final := CASE WHEN piece[2] ~ '^[0-9]' THEN piece[2]::int
                  WHEN piece[2] IS NOT NULL THEN low - 1 + coalesce(
                    array_position(names, piece[2], coalesce(first - low + 1, 1)),
                    array_position(names, piece[2]))
                  WHEN piece[1] = '*' OR piece[3] IS NOT NULL THEN high
                  ELSE first END;
    IF (first BETWEEN low AND high AND final BETWEEN low AND high) IS NOT TRUE THEN
      RAISE '% "%" must be % to %', what, part, low,
        high || coalesce(', or a name such as ' || names[1], '') USING ERRCODE = '22023';
    END IF;
    IF first > final THEN
      RAISE '% "%" runs backwards', what, part USING ERRCODE = '22023';
    END IF;
    step := coalesce(piece[3], '1');
    IF NOT step BETWEEN 1 AND high - low + 1 THEN
      RAISE '% "%" must have a step of 1 to %', what, part, high - low + 1 USING ERRCODE = '22023';
    END IF;
    FOR value IN first..final BY step LOOP
      mask := mask | (1::int8 << value);
    END LOOP;
  END LOOP;
  RETURN mask;
END $$;

-- A schedule as masks of seconds, minutes, hours, days, months and days of the week (Sunday is bit
-- 0), then two flags: 7 is 1 if either day field is enough, 8 if a repeated hour counts again.
-- Raises 22023.
CREATE FUNCTION skiplane.cron_masks(cron text) RETURNS int8[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  fields text[] := array_remove(string_to_array(translate(cron, E'\t', ' '), ' '), '');
  macro text;
  weekdays int8;
BEGIN
  IF length(cron) > 1000 THEN
    RAISE 'text of % characters must have at most 1000', length(cron) USING ERRCODE = '22023';
  END IF;
  IF starts_with(fields[1], '@') AND cardinality(fields) = 1 THEN
    macro := lower(fields[1] COLLATE "C");
    fields := CASE
      WHEN macro = '@hourly' THEN '{0,*,*,*,*}'
      WHEN macro IN ('@daily', '@midnight') THEN '{0,0,*,*,*}'
      WHEN macro = '@weekly' THEN '{0,0,*,*,0}'
      WHEN macro = '@monthly' THEN '{0,0,1,*,*}'
      WHEN macro IN ('@yearly', '@annually') THEN '{0,0,1,1,*}' END;
    IF fields IS NULL THEN
      RAISE 'macro "%" is not known', macro USING ERRCODE = '22023';
    END IF;
  END IF;
  IF cardinality(fields) = 5 THEN
    fields := array_prepend('0', fields);
  ELSIF cardinality(fields) <> 6 THEN
    RAISE 'text has % fields, must have 5, or 6 with seconds first', cardinality(fields)
      USING ERRCODE = '22023';
  END IF;
  weekdays := skiplane.cron_mask(
    fields[6], 0, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT,SUN}', 'day of week');
  RETURN ARRAY[
    skiplane.cron_mask(fields[1], 0, 59, NULL, 'second'),
    skiplane.cron_mask(fields[2], 0, 59, NULL, 'minute'),
    skiplane.cron_mask(fields[3], 0, 23, NULL, 'hour'),
    skiplane.cron_mask(fields[4], 1, 31, NULL, 'day of month'),
    skiplane.cron_mask(
      fields[5], 1, 12, '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}', 'month'),
    (weekdays | (weekdays >> 7)) & 127,
    CASE WHEN starts_with(fields[4], '*') OR starts_with(fields[6], '*') THEN 0 ELSE 1 END,
    CASE WHEN starts_with(fields[3], '*') THEN 1 ELSE 0 END];
END $$;

-- The place of the lowest bit that is set; 64 if none is.
CREATE FUNCTION skiplane.lowest_bit(mask int8) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN bit_count(((mask & -mask) - 1)::bit(64))::int;

-- The first time of the wall clock at or after `wall` that matches; it knows of no zone. Looks at
-- one month after the other, only at those that match. Raises 22023 if there is none: the rarest
-- schedule, of a 29 February and one day of the week, can take 40 years.
CREATE FUNCTION skiplane.cron_wall(masks int8[], wall int8) RETURNS int8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  clock int := ((wall % 86400) + 86400) % 86400;
  today int := (wall - clock) / 86400;
  hour int := clock / 3600;
  minute int := clock / 60 % 60;
  found int;  -- a time of the day
  bits int8;
  calendar date;
  year int;
  month int;
  day int;
  last_year int;
  first int;  -- of the month, in days since 1970
BEGIN
  IF (masks[3] >> hour) & (masks[2] >> minute) & 1 = 1 AND masks[1] >> (clock % 60) <> 0 THEN
    found := clock + skiplane.lowest_bit(masks[1] >> (clock % 60));
  ELSIF (masks[3] >> hour) & 1 = 1 AND masks[2] >> (minute + 1) <> 0 THEN
    found := hour * 3600 + (minute + 1 + skiplane.lowest_bit(masks[2] >> (minute + 1))) * 60
             + skiplane.lowest_bit(masks[1]);
  ELSIF masks[3] >> (hour + 1) <> 0 THEN
    found := (hour + 1 + skiplane.lowest_bit(masks[3] >> (hour + 1))) * 3600
             + skiplane.lowest_bit(masks[2]) * 60 + skiplane.lowest_bit(masks[1]);
  END IF;

  calendar := DATE '1970-01-01' + today + CASE WHEN found IS NULL THEN 1 ELSE 0 END;
  year := date_part('year', calendar);
  month := date_part('month', calendar);
  day := date_part('day', calendar);
  last_year := year + 50;
  LOOP
    IF year > last_year THEN
      RAISE 'schedule never matches' USING ERRCODE = '22023';
    END IF;
    bits := masks[5] >> month;
    IF bits & 1 = 0 THEN
      day := 1;
      IF bits <> 0 THEN
        month := month + skiplane.lowest_bit(bits);
      ELSE
        month := skiplane.lowest_bit(masks[5]);
        year := year + 1;
      END IF;
    END IF;
    first := make_date(year, month, 1) - DATE '1970-01-01';
    -- The days of the week, turned to where the month begins, repeated over five weeks.
    bits := (((masks[6] << 7 | masks[6]) >> (((first + 4) % 7 + 7) % 7)) & 127) * 270549121 << 1;
    bits := CASE WHEN masks[7] = 1 THEN masks[4] | bits ELSE masks[4] & bits END;
    bits := (bits & ((2::int8 << CASE
      WHEN month <> 2 THEN 30 + (month + month / 8) % 2
      WHEN year % 4 = 0 AND (year % 100 <> 0 OR year % 400 = 0) THEN 29
      ELSE 28 END) - 1)) >> day;
    EXIT WHEN bits <> 0;
    day := 1;
    month := month + 1;
    IF month > 12 THEN
      month := 1;
      year := year + 1;
    END IF;
  END LOOP;
  day := first + day - 1 + skiplane.lowest_bit(bits);
  IF found IS NULL OR day > today THEN
    found := skiplane.lowest_bit(masks[3]) * 3600 + skiplane.lowest_bit(masks[2]) * 60
             + skiplane.lowest_bit(masks[1]);
  END IF;
  RETURN day::int8 * 86400 + found;
END $$;

-- What the zone's wall clock is ahead of UTC at an instant. The colon makes PostgreSQL take the
-- name for one of IANA's: without it "CET" is an abbreviation, which has no summer time, and
-- "Europe/Berlin2" means two hours west.
CREATE FUNCTION skiplane.zone_offset(time_zone text, instant int8) RETURNS int8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_part('epoch', to_timestamp(instant) AT TIME ZONE (':' || time_zone))::int8 - instant;

-- The first planned time after `after`. Null in, null out; a null zone is UTC. Raises 22023.
--
-- While the zone's offset is the same for a day around, a planned time is what the wall clock says.
-- Else the change is found, and what lies in its shadow (the time skipped or repeated, counted from
-- the change) has rules of its own. No change is as large as the day of 25 hours that is looked at;
-- two changes within one, which undo each other, are in no zone since 1970.
CREATE FUNCTION skiplane.cron_next(cron text, time_zone text, after timestamptz)
RETURNS timestamptz LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  day CONSTANT int := 90000;
  zone text := coalesce(time_zone, 'UTC');
  masks int8[];
  start int8;    -- no tick is missed before it
  change int8;   -- the last one that is dealt with
  shadow int8;
  low int8;
  tick int8;
  old int8;      -- offsets
  new int8;
BEGIN
  IF cron IS NULL OR after IS NULL THEN RETURN NULL; END IF;
  IF NOT isfinite(after) THEN
    RAISE 'a tick after % does not exist', after USING ERRCODE = '22023';
  END IF;
  masks := skiplane.cron_masks(cron);
  start := date_part('epoch', date_trunc('second', after AT TIME ZONE 'UTC'))::int8 + 1;
  change := start - day;
  LOOP
    low := greatest(start - day, change);
    old := skiplane.zone_offset(zone, low);
    new := skiplane.zone_offset(zone, start);
    IF old = new AND new = skiplane.zone_offset(zone, start + day) THEN
      tick := skiplane.cron_wall(masks, start + new) - new;
      IF tick <= start + day THEN RETURN to_timestamp(tick); END IF;
      start := tick - day;  -- far away: the offset may be another one there
      CONTINUE;
    END IF;

    change := CASE WHEN old <> new THEN start ELSE start + day END;
    WHILE change - low > 1 LOOP
      tick := (change + low) / 2;
      IF skiplane.zone_offset(zone, tick) = old THEN low := tick; ELSE change := tick; END IF;
    END LOOP;
    new := skiplane.zone_offset(zone, change);
    IF start < change THEN
      tick := skiplane.cron_wall(masks, start + old) - old;
      IF tick < change THEN RETURN to_timestamp(tick); END IF;
      start := change;
    END IF;
    shadow := change + abs(new - old);
    IF start < shadow THEN
      tick := shadow;
      IF new > old THEN  -- skipped times, moved, among those of the new offset
        tick := least(skiplane.cron_wall(masks, start + old) - old,
                      skiplane.cron_wall(masks, start + new) - new);
      ELSIF masks[8] = 1 THEN
        tick := skiplane.cron_wall(masks, start + new) - new;
      END IF;
      IF tick < shadow THEN RETURN to_timestamp(tick); END IF;
      start := shadow;
    END IF;
  END LOOP;
END $$;

-- Null if the schedule is fine, else why not, behind "cron: " or "time_zone: ". To be asked when a
-- schedule comes in. Not parallel safe: a plpgsql block that catches needs a subtransaction.
CREATE FUNCTION skiplane.cron_problem(cron text, time_zone text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  part text := 'cron: ';
BEGIN
  IF cron IS NULL THEN RETURN 'cron: text is missing'; END IF;
  PERFORM skiplane.cron_next(cron, 'UTC', TIMESTAMPTZ '2000-01-01 00:00:00+00');
  part := 'time_zone: ';
  PERFORM skiplane.zone_offset(time_zone, 0);
  RETURN NULL;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN part || replace(SQLERRM, '":', '"');
END $$;

-- When a periodic task runs after `planned`, if the run that was planned then ended at `at`. A run
-- that ended before its time was an extra one: the plan stands. With a `catch_up` of 2 what was
-- missed is made up for, else the next time is the first after `at`. One of `period` (in
-- microseconds) and `cron` is not null. Exact to the microsecond for 285 years.
CREATE FUNCTION skiplane.next_planned_time(
  planned timestamptz, period int8, cron text, time_zone text, catch_up int, at timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
  WHEN planned > at THEN planned
  WHEN cron IS NOT NULL THEN
    skiplane.cron_next(cron, time_zone, CASE WHEN catch_up = 2 THEN planned ELSE at END)
  WHEN catch_up = 2 THEN planned + period * INTERVAL '1 microsecond'
  ELSE planned + ((extract(epoch FROM at - planned) * 1000000)::int8 / period + 1) * period
                 * INTERVAL '1 microsecond'
END;
