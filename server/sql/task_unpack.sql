-- Moves packed tasks into rows of task, where the statements that follow find them as any
-- others: those that are leased under the same leases; with one that waits, all of its pack.
-- $1 lane  $2 ids, of which those that are not packed are left alone.
-- One row: how many packs are to be looked for again, as a lease that this waited for left a part
-- of them elsewhere, or they are gone by now. Counts of tasks stay.
-- Their schedule time is now at the latest: packed tasks have been ready before, and if the clock
-- went back since, clock_mend leaves rows alone that were written after that.
-- lanes: any because a lane that is given once lets a plan read all of it for single packs
-- locks: any because what follows must not miss the pack that somebody leases of just now
WITH wanted AS MATERIALIZED (
  SELECT p.id, bit_or(1::int8 << (u.id - p.id)::int) AS named
  FROM (SELECT DISTINCT w.id FROM unnest($2::int8[]) AS w(id)) u
  CROSS JOIN LATERAL (
    SELECT o.id FROM skiplane.task_pack o
    WHERE o.lane = $1::int8 AND o.id BETWEEN u.id - 63 AND u.id AND o.id + o.task_count > u.id
    OFFSET 0
  ) p
  GROUP BY p.id
), pack AS MATERIALIZED (
  SELECT x.*, w.named AS sought,
         w.named & ~x.gone & skiplane.first_positions(x.task_count) AS named,
         skiplane.first_positions(x.task_count) AS all_positions
  FROM (SELECT n.* FROM wanted n ORDER BY n.id) w
  CROSS JOIN LATERAL (
    SELECT o.* FROM skiplane.task_pack o WHERE o.lane = $1::int8 AND o.id = w.id FOR UPDATE
  ) x
), moving AS MATERIALIZED (
  SELECT p.*, CASE WHEN p.state = 1 THEN p.all_positions & ~p.gone ELSE p.named END AS mask
  FROM pack p WHERE p.named <> 0
), made AS (
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, lease_number, lease_time, session, attempt, max_attempts,
     priority, state, content_type, headers, payload)
  SELECT m.lane, m.id + i.position, least(m.schedule_time, now()), m.create_time,
         coalesce(l.lease_number, 0),
         timestamptz 'epoch' + l.lease_number * interval '1 microsecond', l.session,
         CASE WHEN l.session IS NULL THEN 0 ELSE 1 END, m.max_attempts, m.priority,
         CASE WHEN l.session IS NULL THEN 1 ELSE 2 END, m.content_types[i.position + 1],
         m.headers[i.position + 1], i.payload
  FROM moving m
  CROSS JOIN LATERAL (
    SELECT x.number::int - 1 AS position, x.payload
    FROM unnest(m.payloads) WITH ORDINALITY AS x(payload, number)
  ) i
  LEFT JOIN LATERAL (
    SELECT u.session, u.lease_number
    FROM unnest(m.sessions, m.lease_numbers, m.masks) AS u(session, lease_number, mask)
    WHERE (u.mask >> i.position) & 1 = 1 LIMIT 1
  ) l ON true
  WHERE (m.mask >> i.position) & 1 = 1
), kept AS (
  -- By id: the location of a row that was waited for is newer than what this statement sees.
  UPDATE skiplane.task_pack p
  SET gone = p.gone | m.mask
  FROM moving m
  WHERE p.lane = ANY (ARRAY[m.lane]) AND p.id = m.id AND (m.gone | m.mask) <> m.all_positions
), ended AS (
  DELETE FROM skiplane.task_pack p USING moving m
  WHERE p.lane = ANY (ARRAY[m.lane]) AND p.id = m.id AND (m.gone | m.mask) = m.all_positions
)
SELECT (SELECT count(*) FROM wanted w)
       - (SELECT count(*) FROM pack p WHERE p.sought & ~p.all_positions = 0)
