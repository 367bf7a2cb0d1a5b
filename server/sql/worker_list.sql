-- Living worker sessions by name. $1, $2 name and handle after which to go on
-- $3 at most  $4 only this one, by its handle (empty: all)
-- One row each: handle, name, created and expires in microseconds, how many tasks it holds, lease
-- duration in microseconds, the first 20 of these tasks as "lane-id" with commas, client version,
-- tasks at once, command.
-- The ledger names some that are settled, until it is folded.
-- lanes: any because operators ask for all workers, over small tables
SELECT s.handle, s.name, (date_part('epoch', s.create_time) * 1e6)::int8,
       (date_part('epoch', s.expire_time) * 1e6)::int8, h.tasks,
       (date_part('epoch', s.lease_duration) * 1e6)::int8, h.some,
       s.client_version, s.concurrency, s.command
FROM (
  SELECT w.id, x.handle, w.name, w.create_time, w.expire_time, w.lease_duration,
         w.client_version, w.concurrency, w.command
  FROM skiplane.worker_session w
  CROSS JOIN LATERAL (SELECT skiplane.worker_handle(w.id) AS handle) x
  WHERE w.state = 1 AND (w.name, x.handle) > ($1::text, $2::text)
    AND ($4::text = '' OR x.handle = $4::text)
  ORDER BY w.name, x.handle LIMIT $3::int4
) s
CROSS JOIN LATERAL (
  SELECT count(*) AS tasks,
         string_agg(a.lane || '-' || a.task, ',' ORDER BY a.number) FILTER (WHERE a.number <= 20)
           AS some
  FROM (
    SELECT l.lane, e.task, row_number() OVER (ORDER BY e.task) AS number
    FROM skiplane.lease_ledger l
    CROSS JOIN LATERAL unnest(l.sessions, l.tasks, l.lease_numbers)
      AS e(session, task, lease_number)
    CROSS JOIN LATERAL (
      SELECT 1 FROM skiplane.task t
      WHERE t.lane = l.lane AND t.id = e.task AND t.lease_number = e.lease_number
        AND t.state = 2
      UNION ALL
      SELECT 1 FROM skiplane.packed(l.lane, e.task) p
      WHERE p.lease_number = e.lease_number AND p.state = 2
      OFFSET 0
    ) held
    WHERE l.sessions && ARRAY[s.id] AND e.session = s.id
  ) a
) h
ORDER BY s.name, s.handle
