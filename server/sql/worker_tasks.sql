-- Tasks that a living worker holds. $1 its handle  $2 at most. One row each: lane, id; by lane and
-- id. The ledger names some that are settled, until it is folded.
-- lanes: any because operators ask for one worker's tasks, over small tables
SELECT l.lane, e.task
FROM (
  SELECT w.id FROM skiplane.worker_session w
  WHERE w.state = 1 AND skiplane.worker_handle(w.id) = $1::text
) s
JOIN skiplane.lease_ledger l ON l.sessions && ARRAY[s.id]
CROSS JOIN LATERAL unnest(l.sessions, l.tasks, l.lease_numbers)
  AS e(session, task, lease_number)
CROSS JOIN LATERAL (
  SELECT 1 FROM skiplane.task t
  WHERE t.lane = l.lane AND t.id = e.task AND t.lease_number = e.lease_number AND t.state = 2
  UNION ALL
  SELECT 1 FROM skiplane.packed(l.lane, e.task) p
  WHERE p.lease_number = e.lease_number AND p.state = 2
  OFFSET 0
) held
WHERE e.session = s.id
ORDER BY l.lane, e.task LIMIT $2::int4
