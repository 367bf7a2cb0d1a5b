-- How many living workers hold tasks of a lane at a stage, as its first thousand leases tell.
-- $1 lane  $2 stage. One row: how many.
SELECT count(*) FROM (
  SELECT DISTINCT e.session
  FROM (
    SELECT x.session, x.task, x.lease_number
    FROM skiplane.lease_ledger l
    CROSS JOIN LATERAL unnest(l.sessions, l.tasks, l.lease_numbers)
      AS x(session, task, lease_number)
    WHERE l.lane = $1::int8 LIMIT 1000
  ) e
  CROSS JOIN LATERAL (
    SELECT 1 FROM skiplane.task t
    WHERE t.lane = $1::int8 AND t.id = e.task AND t.lease_number = e.lease_number AND t.state = 2
      AND t.stage = $2::int2
    UNION ALL
    SELECT 1 FROM skiplane.packed($1::int8, e.task) p
    WHERE p.lease_number = e.lease_number AND p.state = 2 AND p.stage = $2::int2
    OFFSET 0
  ) held
  CROSS JOIN LATERAL (
    SELECT 1 FROM skiplane.worker_session s WHERE s.id = e.session AND s.state < 2 OFFSET 0
  ) living
) w
