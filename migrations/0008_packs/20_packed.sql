-- What is packed, as the rows of task and of history that it stands for: one place says how.

-- The mask of the first tasks of a pack.
CREATE FUNCTION skiplane.first_positions(count int) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN count >= 64 THEN -1 ELSE ~(-1::bigint << count) END;

-- The positions that a mask names.
CREATE FUNCTION skiplane.positions(mask bigint) RETURNS SETOF int
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 32
BEGIN ATOMIC
  SELECT i FROM generate_series(0, 63) AS i WHERE (mask >> i) & 1 = 1;
END;

-- By whom a task of a pack is leased, masks tell. A lease number is the time of the lease: no
-- packed task was leased before. The row location is none that a row can
-- have: block 4,294,967,295 stands for packs, and the offset is the position.
CREATE VIEW skiplane.packed_task AS
SELECT p.lane, p.id AS pack, ('(4294967295,' || i || ')')::tid AS row_location, p.id + i AS id,
       p.schedule_time, p.create_time,
       coalesce(l.lease_number, 0) AS lease_number,
       timestamptz 'epoch' + l.lease_number * interval '1 microsecond' AS lease_time,
       NULL::timestamptz AS planned_time, NULL::bigint AS version, NULL::bigint AS period,
       l.session, 0 AS due, p.state - 1 AS attempt, p.max_attempts,
       0::smallint AS stage, p.priority, p.state,
       NULL::smallint AS catch_up, NULL::boolean AS rerun_pending,
       NULL::boolean AS cancel_requested, NULL::boolean AS paused, NULL::text AS key,
       p.content_types[i + 1] AS content_type, p.headers[i + 1] AS headers, NULL::text AS cron,
       NULL::text AS time_zone, NULL::text AS error_type, NULL::text AS error_fingerprint,
       NULL::bytea AS error_text, NULL::jsonb AS last_progress, p.payloads[i + 1] AS payload
FROM skiplane.task_pack p
CROSS JOIN LATERAL generate_series(0, p.task_count - 1) AS i
LEFT JOIN LATERAL (
  SELECT u.session, u.lease_number
  FROM unnest(p.sessions, p.lease_numbers, p.masks) AS u(session, lease_number, mask)
  WHERE (u.mask >> i) & 1 = 1 LIMIT 1
) l ON true
WHERE (p.gone >> i) & 1 = 0;

CREATE VIEW skiplane.packed_attempt AS
SELECT h.lane, h.id AS pack, h.id + i AS task_id, h.expire_time, h.end_time,
       timestamptz 'epoch' + e.lease_number * interval '1 microsecond' AS lease_time,
       h.schedule_time, h.create_time, e.session, 1 AS attempt, h.max_attempts,
       0::smallint AS stage, h.priority, 1::smallint AS outcome, true AS ends_task,
       NULL::bigint AS version, NULL::text AS key, NULL::text AS error_type,
       NULL::text AS error_fingerprint, NULL::bytea AS error_text, NULL::bytea AS payload,
       NULL::bytea AS result
FROM skiplane.pack_history h
CROSS JOIN LATERAL unnest(h.sessions, h.lease_numbers, h.masks) AS e(session, lease_number, mask)
CROSS JOIN LATERAL generate_series(0, 63) AS i
WHERE (e.mask >> i) & 1 = 1;

-- A task by its id, if it is packed; and its attempts, if they were. Its pack has one of 64 ids.
CREATE FUNCTION skiplane.packed(its_lane bigint, its_id bigint) RETURNS SETOF skiplane.packed_task
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT * FROM skiplane.packed_task t
  WHERE t.lane = its_lane AND t.pack BETWEEN its_id - 63 AND its_id AND t.id = its_id;
END;

CREATE FUNCTION skiplane.packed_attempts(its_lane bigint, its_id bigint)
RETURNS SETOF skiplane.packed_attempt
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT * FROM skiplane.packed_attempt h
  WHERE h.lane = its_lane AND h.pack BETWEEN its_id - 63 AND its_id AND h.task_id = its_id;
END;
