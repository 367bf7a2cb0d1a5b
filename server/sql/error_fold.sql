-- Adds up to $2 deltas of a lane to its error groups. $1 lane  $2 rows.
-- One row: how many deltas were folded.
WITH taken AS (
  DELETE FROM skiplane.error_delta d
  WHERE d.lane = $1::int8 AND d.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.error_delta o WHERE o.lane = $1::int8 LIMIT $2::int4
    FOR UPDATE SKIP LOCKED))
  RETURNING d.stage, d.fingerprint, d.retrying, d.failed, d.seen_time, d.error_type, d.error_text,
    d.tasks, d.failures
), hours AS (
  SELECT h.stage, h.fingerprint, jsonb_object_agg(h.hour, h.failures) AS failures
  FROM (
    SELECT t.stage, t.fingerprint, floor(date_part('epoch', t.seen_time) / 3600)::int8 AS hour,
           sum(t.failures)::int8 AS failures
    FROM taken t WHERE t.failures > 0 GROUP BY 1, 2, 3
  ) h
  GROUP BY h.stage, h.fingerprint
), samples AS (
  SELECT n.stage, n.fingerprint, (array_agg(n.task ORDER BY n.seen_time DESC, n.task))[1:5] AS tasks
  FROM (
    SELECT t.stage, t.fingerprint, u.task, max(t.seen_time) AS seen_time
    FROM taken t CROSS JOIN LATERAL unnest(t.tasks) AS u(task) GROUP BY 1, 2, 3
  ) n
  GROUP BY n.stage, n.fingerprint
), added AS (
  INSERT INTO skiplane.error_group AS g
    (lane, stage, fingerprint, retrying, failed, first_seen_time, last_seen_time, error_type,
      error_text, tasks, hourly_failures)
  SELECT $1::int8, t.stage, t.fingerprint, sum(t.retrying), sum(t.failed),
         coalesce(min(t.seen_time), now()), coalesce(max(t.seen_time), '-infinity'),
         (array_agg(t.error_type ORDER BY t.seen_time DESC NULLS LAST))[1],
         (array_agg(t.error_text ORDER BY t.seen_time DESC NULLS LAST))[1],
         coalesce(s.tasks, '{}'), coalesce(h.failures, '{}')
  FROM taken t
  LEFT JOIN samples s ON s.stage = t.stage AND s.fingerprint = t.fingerprint
  LEFT JOIN hours h ON h.stage = t.stage AND h.fingerprint = t.fingerprint
  GROUP BY t.stage, t.fingerprint, s.tasks, h.failures ORDER BY t.stage, t.fingerprint
  ON CONFLICT (lane, stage, fingerprint) DO UPDATE
  SET retrying = g.retrying + excluded.retrying, failed = g.failed + excluded.failed,
      last_seen_time = greatest(g.last_seen_time, excluded.last_seen_time),
      error_type = CASE WHEN excluded.last_seen_time > g.last_seen_time THEN excluded.error_type
                        ELSE g.error_type END,
      error_text = CASE WHEN excluded.last_seen_time > g.last_seen_time THEN excluded.error_text
                        ELSE g.error_text END,
      tasks = ARRAY(
        SELECT u.task FROM unnest(excluded.tasks || g.tasks) WITH ORDINALITY AS u(task, number)
        GROUP BY u.task ORDER BY min(u.number) LIMIT 5),
      hourly_failures = skiplane.add_hours(
        g.hourly_failures, excluded.hourly_failures,
        floor(date_part('epoch', now()) / 3600)::int8 - 47)
)
SELECT count(*) FROM taken
