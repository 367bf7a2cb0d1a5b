-- Classifies leases that could not be settled. $1 lane; per item: $2 ids  $3 lease numbers
-- $4 sessions.
-- One row per item, in order: the task is still held under this very lease (try again); the task
-- lives; the outcome under which this lease was settled, or null; the task was finished by another
-- lease.
SELECT coalesce(t.lease_number = w.lease_number AND t.session = w.session AND t.state = 2, false),
       t.id IS NOT NULL,
       (SELECT s.outcome FROM skiplane.settled s
        WHERE s.lane = $1::int8 AND s.numbers @> w.lease_number AND s.ids @> w.id
          AND w.id = ANY (s.tasks)  -- a tenth of the time of what follows
          AND EXISTS (SELECT 1 FROM unnest(s.tasks, s.lease_numbers) AS e(task, lease_number)
                      WHERE e.task = w.id AND e.lease_number = w.lease_number)
        LIMIT 1),
       coalesce(
         (SELECT true FROM skiplane.history h
          WHERE h.lane = $1::int8 AND h.task_id = w.id LIMIT 1),
         (SELECT true FROM skiplane.packed_attempts($1::int8, w.id) LIMIT 1),
         (SELECT true FROM skiplane.task_failed f
          WHERE f.lane = $1::int8 AND f.id = w.id LIMIT 1),
         (SELECT true FROM skiplane.settled s
          WHERE s.lane = $1::int8 AND s.numbers && int8range(w.lease_number, NULL)
            AND s.ids @> w.id AND w.id = ANY (s.tasks) LIMIT 1),
         false)
FROM unnest($2::int8[], $3::int8[], $4::uuid[]) WITH ORDINALITY AS w(id, lease_number, session, n)
LEFT JOIN LATERAL (
  SELECT o.id, o.lease_number, o.session, o.state FROM skiplane.task o
  WHERE o.lane = $1::int8 AND o.id = w.id
  UNION ALL
  SELECT p.id, p.lease_number, p.session, p.state FROM skiplane.packed($1::int8, w.id) p
  OFFSET 0
) t ON true
ORDER BY w.n
