-- The current leases of ledger rows: what a repeated Lease gets again, and what a lease statement
-- whose answer was lost has leased. $1 lane  $2 request ids  $3 ledger ids (either may be empty).
-- One row per lease of a ledger row; without a task (all null) if the lease is over, or its session
-- is: upkeep takes such a task back.
SELECT g.request_id, g.id, t.session, t.row_location, t.id, t.lease_number, t.attempt,
       t.max_attempts, t.priority, (date_part('epoch', t.schedule_time) * 1e6)::int8,
       (date_part('epoch', t.create_time) * 1e6)::int8, t.key, t.content_type, t.headers, t.payload,
       t.version, (date_part('epoch', t.planned_time) * 1e6)::int8,
       CASE WHEN t.planned_time IS NULL OR t.attempt > 1 THEN t.error_type END,
       t.error_fingerprint, substr(t.error_text, 1, 4096), t.last_progress, t.stage
FROM (
  SELECT l.request_id, l.id, e.task, e.lease_number, e.n
  FROM (
    SELECT x.* FROM unnest($2::text[]) AS w(request_id)
    CROSS JOIN LATERAL (
      SELECT r.* FROM skiplane.lease_ledger r
      WHERE r.lane = $1::int8 IS TRUE AND r.request_id = w.request_id OFFSET 0
    ) x
    UNION ALL
    SELECT x.* FROM unnest($3::uuid[]) AS w(id)
    CROSS JOIN LATERAL (
      SELECT r.* FROM skiplane.lease_ledger r
      WHERE r.lane = $1::int8 AND r.id = w.id OFFSET 0
    ) x
  ) l
  CROSS JOIN LATERAL unnest(l.tasks, l.lease_numbers) WITH ORDINALITY AS e(task, lease_number, n)
) g
LEFT JOIN LATERAL (
  SELECT h.*
  FROM (
    SELECT o.session, o.ctid AS row_location, o.id, o.lease_number, o.attempt, o.max_attempts,
           o.priority, o.schedule_time, o.create_time, o.key, o.content_type, o.headers, o.payload,
           o.version, o.planned_time, o.error_type, o.error_fingerprint, o.error_text,
           o.last_progress, o.stage
    FROM skiplane.task o
    WHERE o.lane = $1::int8 AND o.id = g.task AND o.lease_number = g.lease_number AND o.state = 2
    UNION ALL
    SELECT p.session, p.row_location, p.id, p.lease_number, p.attempt, p.max_attempts, p.priority,
           p.schedule_time, p.create_time, p.key, p.content_type, p.headers, p.payload, p.version,
           p.planned_time, p.error_type, p.error_fingerprint, p.error_text, p.last_progress, p.stage
    FROM skiplane.packed($1::int8, g.task) p
    WHERE p.lease_number = g.lease_number AND p.state = 2
  ) h
  WHERE NOT EXISTS (SELECT FROM skiplane.worker_session s
                    WHERE s.id = h.session AND s.state <> 1 OFFSET 0)
  OFFSET 0
) t ON true
ORDER BY g.id, g.n
