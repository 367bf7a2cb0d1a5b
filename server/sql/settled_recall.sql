-- What a broker's own settlements did whose commit has an unknown outcome. $1 lane; then one
-- element per item and try, of which an item may have several: $2 ids  $3 lease numbers  $4 ids of
-- tries. One row per item that one of its tries settled: id, lease number, outcome and transition
-- as in task_settle, time of it in microseconds; if the task lives and nobody settled it since, its
-- schedule time in microseconds (greatest number: never) and priority, else nulls; time now.
SELECT w.id, w.lease_no, s.outcome, s.transition, (date_part('epoch', s.settled_at) * 1e6)::int8,
       CASE WHEN t.run_at = 'infinity' THEN 9223372036854775807
            ELSE (date_part('epoch', t.run_at) * 1e6)::int8 END,
       t.priority, (date_part('epoch', now()) * 1e6)::int8
FROM unnest($2::int8[], $3::int8[], $4::int8[]) AS w(id, lease_no, try_id)
CROSS JOIN LATERAL (
  SELECT o.outcome, o.fate AS transition, o.settled_at FROM skiplane.settled o
  WHERE o.lane = $1::int8 AND o.numbers @> w.lease_no AND o.ids @> w.id AND o.try_id = w.try_id
    AND EXISTS (SELECT 1 FROM unnest(o.tasks, o.lease_nos) AS e(task, lease_no)
                WHERE e.task = w.id AND e.lease_no = w.lease_no)
  LIMIT 1
) s
LEFT JOIN LATERAL (
  SELECT o.run_at, o.priority FROM skiplane.task o
  WHERE o.lane = $1::int8 AND o.id = w.id
    AND NOT EXISTS (
      SELECT 1 FROM skiplane.settled n
      WHERE n.lane = $1::int8 AND n.numbers && int8range(w.lease_no + 1, NULL)
        AND n.ids @> w.id
        AND EXISTS (SELECT 1 FROM unnest(n.tasks, n.lease_nos) AS e(task, lease_no)
                    WHERE e.task = w.id AND e.lease_no > w.lease_no))
  OFFSET 0
) t ON true
