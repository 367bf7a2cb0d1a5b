-- As task_lease, where packs may be: leases from rows and from packs, in one order. $1-$13 as
-- there, but each caller gets neighbours  $14 packs at most.
-- Per leased task of a row: as task_lease, and three nulls. Per pack: nulls but for the id of its
-- first task, lease number, 1, max attempts, priority, times, content types and headers as JSON
-- arrays (null: none), all payloads, the time now; and callers, masks of the positions that each
-- gets, and lengths of the payloads. And nulls but for id, priority and schedule time: per priority
-- the first row or pack of which this statement left something that it may have seen, as it was not
-- all wanted, did not fit, was held by others, or changed, or as it lies behind the last pack that
-- it may look at. Whoever begins behind that key passes over tasks.
WITH seen AS MATERIALIZED (
  SELECT x.*
  FROM unnest($3::int2[], $4::timestamptz[], $5::int8[]) AS p(priority, schedule_time, id)
  CROSS JOIN LATERAL (
    SELECT t.priority, t.schedule_time, t.id,
           bit_count((skiplane.first_positions(t.task_count) & ~t.gone)::bit(64)) AS tasks
    FROM skiplane.task_pack t
    WHERE t.lane = $1::int8 AND t.priority = p.priority AND $2::int2 = 0
      AND t.schedule_time <= now() AND (t.schedule_time, t.id) > (p.schedule_time, p.id)
      AND t.state = 1
    ORDER BY t.schedule_time, t.id LIMIT $14::int4
  ) x
), need AS MATERIALIZED (
  -- No more packs are locked than are wanted: others may want them.
  SELECT coalesce(least(min(c.number) FILTER (WHERE c.upto >= $6::int4), $14::int4), $14::int4)
           AS packs
  FROM (
    SELECT row_number() OVER w AS number, sum(s.tasks) OVER w AS upto
    FROM seen s WINDOW w AS (ORDER BY s.priority, s.schedule_time, s.id)
  ) c
), picked AS MATERIALIZED (
  SELECT x.*
  FROM unnest($3::int2[], $4::timestamptz[], $5::int8[]) AS p(priority, schedule_time, id)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS row_location, t.priority, t.schedule_time, t.id, t.bytes,
           skiplane.first_positions(t.task_count) & ~t.gone AS waiting
    FROM skiplane.task_pack t
    WHERE t.lane = $1::int8 AND t.priority = p.priority AND $2::int2 = 0
      AND t.schedule_time <= now() AND (t.schedule_time, t.id) > (p.schedule_time, p.id)
      AND t.state = 1
    ORDER BY t.schedule_time, t.id LIMIT (SELECT n.packs FROM need n)
    FOR UPDATE SKIP LOCKED
  ) x
  LIMIT (SELECT n.packs FROM need n)
), pack AS MATERIALIZED (
  SELECT p.*, bit_count(p.waiting::bit(64))::int AS tasks,
         sum(bit_count(p.waiting::bit(64))::int) OVER w AS upto, sum(p.bytes) OVER w AS so_far,
         row_number() OVER w AS number
  FROM picked p WINDOW w AS (ORDER BY p.priority, p.schedule_time, p.id)
), edge AS MATERIALIZED (
  -- Rows behind the last pack that is wanted are left alone.
  SELECT p.priority, p.schedule_time, p.id FROM pack p
  WHERE p.upto >= $6::int4 OR p.number = (SELECT n.packs FROM need n) ORDER BY p.number LIMIT 1
), pick AS MATERIALIZED (
  SELECT x.*
  FROM unnest($3::int2[], $4::timestamptz[], $5::int8[]) AS p(priority, schedule_time, id)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS row_location, t.priority, t.schedule_time, t.id,
           octet_length(t.payload) + coalesce(octet_length(t.headers::text), 0)
             + CASE WHEN t.error_type IS NULL THEN 0 ELSE
                 octet_length(concat(t.error_type, t.error_fingerprint))
                 + least(octet_length(t.error_text), 4096) END
             + coalesce(octet_length(t.last_progress::text), 0) AS bytes
    FROM skiplane.task t
    WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = p.priority
      AND t.schedule_time <= now() AND (t.schedule_time, t.id) > (p.schedule_time, p.id)
      AND (t.schedule_time, t.id) < (
        CASE WHEN p.priority < (SELECT e.priority FROM edge e) THEN 'infinity'
             WHEN p.priority > (SELECT e.priority FROM edge e) THEN '-infinity'
             ELSE coalesce((SELECT e.schedule_time FROM edge e), 'infinity') END,
        coalesce((SELECT e.id FROM edge e), 0))
      AND t.state = 1
    ORDER BY t.schedule_time, t.id LIMIT $6::int4
    FOR UPDATE SKIP LOCKED
  ) x
  LIMIT $6::int4
), merged AS MATERIALIZED (
  SELECT m.*,
         (sum(m.tasks) OVER (ORDER BY m.priority, m.schedule_time, m.id
                             ROWS UNBOUNDED PRECEDING) - m.tasks)::int AS before
  FROM (
    SELECT p.row_location, p.priority, p.schedule_time, p.id, p.tasks, p.bytes, p.waiting
    FROM pack p WHERE p.number = 1 OR p.so_far <= $12::int8
    UNION ALL
    SELECT p.row_location, p.priority, p.schedule_time, p.id, 1, p.bytes, NULL FROM pick p
  ) m
), room AS MATERIALIZED (
  SELECT sum(m.bytes) <= $13::int8 AS suffices, least(sum(m.tasks), $6::int4)::int AS tasks,
         sum(m.tasks)::float8 / sum(greatest(m.bytes, 1)) AS tasks_per_byte
  FROM merged m
), deal AS MATERIALIZED (
  -- Each caller gets as many of what there is as $7 deals it, but neighbours; about as many as fit,
  -- if somebody comes behind it.
  SELECT c.caller, sum(c.tasks) OVER w - c.tasks AS lo, sum(c.tasks) OVER w AS hi
  FROM (
    SELECT s.caller,
           CASE WHEN (SELECT r.suffices FROM room r)
                  OR s.caller = (SELECT max(o) FROM unnest($7::int4[]) AS o) THEN count(*)::int
                ELSE least(count(*), greatest(
                  floor((SELECT r.tasks_per_byte FROM room r) * abs(($11::int8[])[s.caller])),
                  sign(($11::int8[])[s.caller])))::int
           END AS tasks
    FROM unnest(($7::int4[])[1 : (SELECT r.tasks FROM room r)]) AS s(caller)
    WHERE s.caller > 0 GROUP BY s.caller
  ) c
  WINDOW w AS (ORDER BY c.caller)
), single AS MATERIALIZED (
  -- Where bytes may not suffice, each task is looked at.
  SELECT f.*, (f.n = 0 OR f.so_far <= $12::int8 AND f.total = f.bytes) AND f.most > 0
              OR (f.n = 0 OR f.so_far <= $12::int8) AND f.total <= abs(f.most) AS fits
  FROM (
    SELECT e.*, ($11::int8[])[d.caller] AS most, d.caller,
           sum(e.bytes) OVER (PARTITION BY d.caller ORDER BY e.n) AS total
    FROM (
      SELECT m.row_location, m.priority, m.schedule_time, m.id, m.waiting, i.position,
             coalesce(i.bytes, m.bytes) AS bytes, m.before + coalesce(i.number, 1) - 1 AS n,
             sum(coalesce(i.bytes, m.bytes)) OVER (
               ORDER BY m.before + coalesce(i.number, 1)) AS so_far
      FROM merged m
      LEFT JOIN LATERAL (
        SELECT w.position, w.number, octet_length(t.payloads[w.position + 1])
               + coalesce(octet_length(t.headers[w.position + 1]::text), 0) AS bytes
        FROM skiplane.task_pack t
        CROSS JOIN LATERAL skiplane.positions(m.waiting) WITH ORDINALITY AS w(position, number)
        WHERE t.lane = $1::int8 AND t.ctid = m.row_location AND m.waiting IS NOT NULL
      ) i ON true
      WHERE NOT (SELECT o.suffices FROM room o) AND (m.waiting IS NULL OR i.position IS NOT NULL)
    ) e
    JOIN deal d ON e.n >= d.lo AND e.n < d.hi
  ) f
), shared AS MATERIALIZED (
  SELECT s.row_location, s.waiting, array_agg(s.caller) AS callers,
         array_agg(($8::uuid[])[s.caller]) AS sessions, array_agg(s.mask) AS masks,
         array_agg((date_part('epoch', now()) * 1e6)::int8) AS lease_numbers,
         bit_or(s.mask) AS mask, sum(s.tasks) AS tasks
  FROM (
    SELECT m.row_location, m.waiting, r.caller, r.hi - r.lo AS tasks,
           CASE
             WHEN m.waiting = skiplane.first_positions(m.tasks)
               THEN skiplane.first_positions(r.hi) & ~skiplane.first_positions(r.lo)
             ELSE (SELECT bit_or(1::int8 << p.position)
                   FROM skiplane.positions(m.waiting) WITH ORDINALITY AS p(position, number)
                   WHERE p.number > r.lo AND p.number <= r.hi)
           END AS mask
    FROM merged m
    CROSS JOIN LATERAL (
      -- How many of the pack's tasks go to others before.
      SELECT d.caller, greatest(m.before, d.lo)::int - m.before AS lo,
             least(m.before + m.tasks, d.hi)::int - m.before AS hi
      FROM deal d
    ) r
    WHERE m.waiting IS NOT NULL AND r.hi > r.lo AND (SELECT o.suffices FROM room o)
    UNION ALL
    SELECT s.row_location, s.waiting, s.caller, count(*), bit_or(1::int8 << s.position)
    FROM (
      -- Taken are the first ones of a pack: behind a task that does not fit, the others stay.
      SELECT o.*, bool_and(o.fits) OVER (PARTITION BY o.row_location ORDER BY o.n) AS is_taken
      FROM single o WHERE o.waiting IS NOT NULL
    ) s
    WHERE s.is_taken GROUP BY s.row_location, s.waiting, s.caller
  ) s
  GROUP BY s.row_location, s.waiting
), taken AS MATERIALIZED (
  UPDATE skiplane.task_pack t
  SET state = 2, task_count = s.task_count, gone = t.gone & skiplane.first_positions(s.task_count),
      bytes = t.bytes * s.task_count / t.task_count,
      sessions = s.sessions, masks = s.masks, lease_numbers = s.lease_numbers
  FROM (
    SELECT h.*, 65 - position('1' IN h.mask::bit(64)::text) AS task_count FROM shared h
  ) s
  WHERE t.lane = $1::int8 AND t.ctid = s.row_location AND t.state = 1
  RETURNING t.id, t.task_count, s.waiting & ~skiplane.first_positions(s.task_count) AS rest,
            s.tasks, s.callers, s.sessions, s.masks, s.mask, t.max_attempts, t.priority,
            t.schedule_time, t.create_time, t.content_types, t.headers, t.payloads
), rest AS MATERIALIZED (
  -- What it leaves of a pack leaves the pack: then no ack locks a task that waits, and lets leases
  -- pass over it. It becomes a pack unless it or what was taken is small: payloads are copied.
  SELECT t.id + t.task_count AS id, t.task_count AS since, t.rest AS mask, r.tasks, t.max_attempts,
         t.priority, t.schedule_time, t.create_time, t.content_types, t.headers, t.payloads,
         r.tasks >= 4 AND t.tasks >= 16
           AND t.rest = skiplane.first_positions(t.task_count + r.tasks)
                        & ~skiplane.first_positions(t.task_count) AS is_pack
  FROM taken t CROSS JOIN LATERAL (SELECT bit_count(t.rest::bit(64))::int AS tasks) r
  WHERE t.rest <> 0
), rest_packs AS (
  INSERT INTO skiplane.task_pack
    (lane, id, schedule_time, create_time, max_attempts, bytes, task_count, priority, content_types,
     headers, payloads)
  SELECT $1::int8, r.id, r.schedule_time, r.create_time, r.max_attempts, b.bytes, r.tasks,
         r.priority, r.content_types[r.since + 1 :], r.headers[r.since + 1 :],
         r.payloads[r.since + 1 :]
  FROM rest r
  CROSS JOIN LATERAL (
    SELECT (SELECT sum(octet_length(p)) FROM unnest(r.payloads[r.since + 1 :]) AS p)
           + (SELECT coalesce(sum(octet_length(h::text)), 0)
              FROM unnest(r.headers[r.since + 1 :]) AS h) AS bytes
  ) b
  WHERE r.is_pack
), rest_rows AS (
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, lease_number, attempt, max_attempts, priority, state,
     content_type, headers, payload)
  SELECT $1::int8, r.id - r.since + p.number - 1, r.schedule_time, r.create_time, 0, 0,
         r.max_attempts, r.priority, 1, r.content_types[p.number], r.headers[p.number], p.payload
  FROM rest r
  CROSS JOIN LATERAL unnest(r.payloads) WITH ORDINALITY AS p(payload, number)
  WHERE NOT r.is_pack AND (r.mask >> (p.number - 1)::int) & 1 = 1
), leased AS (
  UPDATE skiplane.task t
  SET state = 2, attempt = t.attempt + 1, session = f.session, lease_time = now(),
      lease_number = greatest(t.lease_number + 1, (date_part('epoch', now()) * 1e6)::int8)
  FROM (
    SELECT r.row_location, r.caller, ($8::uuid[])[r.caller] AS session
    FROM (
      SELECT m.row_location, d.caller
      FROM merged m JOIN deal d ON m.before >= d.lo AND m.before < d.hi
      WHERE m.waiting IS NULL AND (SELECT o.suffices FROM room o)
      UNION ALL
      SELECT s.row_location, s.caller FROM single s WHERE s.waiting IS NULL AND s.fits
    ) r
  ) f
  WHERE t.lane = $1::int8 AND t.ctid = f.row_location AND t.state = 1
  RETURNING f.caller, t.ctid AS row_location, t.id, t.lease_number, t.session, t.due,
            t.attempt, t.max_attempts, t.priority, t.schedule_time, t.create_time, t.key,
            t.content_type, t.headers, t.payload, t.version, t.planned_time, t.last_progress,
            -- The error that a periodic task still shows is that of a run before.
            CASE WHEN t.planned_time IS NULL OR t.attempt > 1 THEN t.error_type END AS error_type,
            t.error_fingerprint, substr(t.error_text, 1, 4096) AS error_text
), ledger AS (
  INSERT INTO skiplane.lease_ledger (lane, id, request_id, sessions, tasks, lease_numbers,
                                     check_time)
  SELECT $1::int8, ($9::uuid[])[e.caller], min(($10::text[])[e.caller]),
         array_agg(($8::uuid[])[e.caller]), array_agg(e.id), array_agg(e.lease_number),
         now() + interval '30 seconds'
  FROM (
    SELECT l.caller, l.id, l.lease_number FROM leased l
    UNION ALL
    SELECT c.caller, t.id + p, (date_part('epoch', now()) * 1e6)::int8
    FROM taken t
    CROSS JOIN LATERAL unnest(t.callers, t.masks) AS c(caller, mask)
    CROSS JOIN LATERAL skiplane.positions(c.mask) AS p
  ) e
  GROUP BY ($9::uuid[])[e.caller] ORDER BY min(($10::text[])[e.caller])
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, leased)
  SELECT $1::int8, $2::int2, c.due, -sum(c.tasks), sum(c.tasks)
  FROM (
    SELECT l.due, 1 AS tasks FROM leased l
    UNION ALL
    SELECT 0, t.tasks FROM taken t
  ) c
  GROUP BY c.due
), hold AS MATERIALIZED (
  SELECT DISTINCT ON (s.priority) s.priority, s.id,
         (date_part('epoch', s.schedule_time) * 1e6)::int8 AS micros
  FROM (
    SELECT o.priority, o.schedule_time,
           -- Behind the last pack that it may look at there may be more.
           CASE WHEN o.is_taken THEN o.id + 64 ELSE o.id END AS id
    FROM (
      SELECT e.*, row_number() OVER (PARTITION BY e.priority
                                     ORDER BY e.schedule_time, e.id) AS number,
             EXISTS (SELECT FROM taken t WHERE t.id = e.id) AS is_taken
      FROM seen e
    ) o
    WHERE NOT o.is_taken OR o.number = $14::int4
    UNION ALL
    SELECT r.priority, r.schedule_time, r.id FROM rest r
    UNION ALL
    SELECT p.priority, p.schedule_time, p.id FROM pick p
    WHERE NOT EXISTS (SELECT FROM leased l WHERE l.id = p.id)
  ) s
  ORDER BY s.priority, s.schedule_time, s.id
)
SELECT l.caller, l.row_location, l.id, l.lease_number, l.attempt, l.max_attempts, l.priority,
       (date_part('epoch', l.schedule_time) * 1e6)::int8,
       (date_part('epoch', l.create_time) * 1e6)::int8,
       l.key, l.content_type, l.headers, l.payload, l.version,
       (date_part('epoch', l.planned_time) * 1e6)::int8,
       l.error_type, l.error_fingerprint, l.error_text, l.last_progress,
       (date_part('epoch', now()) * 1e6)::int8, NULL::int4[], NULL::int8[], NULL::int4[]
FROM leased l
UNION ALL
SELECT NULL, NULL, t.id, (date_part('epoch', now()) * 1e6)::int8, 1, t.max_attempts, t.priority,
       (date_part('epoch', t.schedule_time) * 1e6)::int8,
       (date_part('epoch', t.create_time) * 1e6)::int8, NULL, to_jsonb(x.content_types)::text,
       to_jsonb(x.headers), x.bytes, NULL, NULL, NULL, NULL, NULL, NULL,
       (date_part('epoch', now()) * 1e6)::int8, t.callers, t.masks, x.lengths
FROM taken t
CROSS JOIN LATERAL (
  SELECT string_agg(u.payload, '') AS bytes, array_agg(octet_length(u.payload)) AS lengths,
         CASE WHEN t.content_types IS NOT NULL
              THEN array_agg(t.content_types[u.number]) END AS content_types,
         CASE WHEN t.headers IS NOT NULL THEN array_agg(t.headers[u.number]) END AS headers
  FROM unnest(t.payloads) WITH ORDINALITY AS u(payload, number)
  WHERE (t.mask >> (u.number::int - 1)) & 1 = 1
) x
UNION ALL
SELECT NULL, NULL, h.id, NULL, NULL, NULL, h.priority, h.micros, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM hold h
