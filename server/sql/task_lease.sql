-- Leases tasks of one lane and stage for many callers at once.
-- $1 lane  $2 stage  $3 priorities, most urgent first  $4, $5 for each priority the key (schedule
-- time, id) after which to look  $6 how many at most  $7 for each position in the result the caller
-- who gets it (from 1; 0: nobody; $6 elements); then for each caller: $8 session  $9 ledger row
-- $10 request id or null  $11 bytes at most (negative: not even its first task may exceed them);
-- and $12 bytes at most for all of them together  $13 bytes that fit whoever gets them: as long as
-- the tasks have no more, nothing is added up row by row.
-- One row per leased task; no row: nothing was ready. Fewer than $6 says neither that the lane is
-- empty nor that all before the last one is taken: a row that changed between this statement's
-- snapshot and its lock is skipped.
-- Rows that do not fit into those bytes are locked until the commit and stay as they were.
WITH pick AS MATERIALIZED (
  SELECT x.row_location, x.bytes
  FROM unnest($3::int2[], $4::timestamptz[], $5::int8[]) AS p(priority, schedule_time, id)
  CROSS JOIN LATERAL (
    SELECT t.ctid AS row_location,
           octet_length(t.payload) + coalesce(octet_length(t.headers::text), 0)
             + CASE WHEN t.error_type IS NULL THEN 0 ELSE
                 octet_length(concat(t.error_type, t.error_fingerprint))
                 + least(octet_length(t.error_text), 4096) END
             + coalesce(octet_length(t.last_progress::text), 0) AS bytes
    FROM skiplane.task t
    WHERE t.lane = $1::int8 AND t.stage = $2::int2 AND t.priority = p.priority
      AND t.schedule_time <= now() AND (t.schedule_time, t.id) > (p.schedule_time, p.id)
      AND t.state = 1
    ORDER BY t.schedule_time, t.id LIMIT $6::int4
    FOR UPDATE SKIP LOCKED
  ) x
  LIMIT $6::int4
), room AS MATERIALIZED (
  SELECT sum(p.bytes) <= $13::int8 AS suffices FROM pick p
), fitting AS MATERIALIZED (
  SELECT a.row_location, a.caller, ($8::uuid[])[a.caller] AS session
  FROM (
    SELECT u.row_location, ($7::int4[])[u.n] AS caller
    FROM unnest(ARRAY(SELECT p.row_location FROM pick p)) WITH ORDINALITY AS u(row_location, n)
  ) a
  WHERE (SELECT r.suffices FROM room r) AND a.caller > 0
  UNION ALL
  SELECT f.row_location, f.caller, ($8::uuid[])[f.caller]
  FROM (
    SELECT d.*, sum(d.bytes) OVER (PARTITION BY d.caller ORDER BY d.n) AS total
    FROM (
      SELECT p.row_location, p.bytes, row_number() OVER w AS n, sum(p.bytes) OVER w AS so_far,
             ($7::int4[])[row_number() OVER w] AS caller
      FROM pick p WINDOW w AS (ROWS UNBOUNDED PRECEDING)
    ) d
  ) f
  WHERE NOT (SELECT r.suffices FROM room r)
    AND ((f.n = 1 OR f.so_far <= $12::int8 AND f.total = f.bytes) AND ($11::int8[])[f.caller] > 0
      OR (f.n = 1 OR f.so_far <= $12::int8) AND f.total <= abs(($11::int8[])[f.caller]))
), leased AS (
  UPDATE skiplane.task t
  SET state = 2, attempt = t.attempt + 1, session = f.session, lease_time = now(),
      lease_number = greatest(t.lease_number + 1, (date_part('epoch', now()) * 1e6)::int8)
  FROM fitting f
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
  SELECT $1::int8, e.ledger, min(e.request_id), array_agg(e.session), array_agg(e.id),
         array_agg(e.lease_number), now() + interval '30 seconds'
  FROM (
    SELECT l.session, l.id, l.lease_number, ($9::uuid[])[l.caller] AS ledger,
           ($10::text[])[l.caller] AS request_id
    FROM leased l
  ) e
  GROUP BY e.ledger ORDER BY min(e.request_id)  -- one that is taken is waited for
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting, leased)
  SELECT $1::int8, $2::int2, l.due, -count(*), count(*) FROM leased l GROUP BY l.due
)
SELECT l.caller, l.row_location, l.id, l.lease_number, l.attempt, l.max_attempts, l.priority,
       (date_part('epoch', l.schedule_time) * 1e6)::int8,
       (date_part('epoch', l.create_time) * 1e6)::int8,
       l.key, l.content_type, l.headers, l.payload, l.version,
       (date_part('epoch', l.planned_time) * 1e6)::int8,
       l.error_type, l.error_fingerprint, l.error_text, l.last_progress,
       (date_part('epoch', now()) * 1e6)::int8
FROM leased l
