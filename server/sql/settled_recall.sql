-- What a broker's own settlements did whose commit has an unknown outcome. $1 lane; then one
-- element per item and try, of which an item may have several: $2 ids  $3 lease numbers  $4 ids of
-- tries. One row per item that one of its tries settled: id, lease number, outcome and transition
-- as in task_settle, time of it in microseconds; if the task lives and nobody settled it since, its
-- schedule time in microseconds (greatest number: never) and priority, else nulls; time now.
SELECT w.id, w.lease_number, s.outcome, s.transition,
       (date_part('epoch', s.settle_time) * 1e6)::int8,
       CASE WHEN t.schedule_time = 'infinity' THEN 9223372036854775807
            ELSE (date_part('epoch', t.schedule_time) * 1e6)::int8 END,
       t.priority, (date_part('epoch', now()) * 1e6)::int8
FROM unnest($2::int8[], $3::int8[], $4::int8[]) AS w(id, lease_number, try_id)
CROSS JOIN LATERAL (
  SELECT o.outcome, o.transition AS transition, o.settle_time FROM skiplane.settled o
  WHERE o.lane = $1::int8 AND o.numbers @> w.lease_number AND o.ids @> w.id AND o.try_id = w.try_id
    AND w.id = ANY (o.tasks)
    AND EXISTS (SELECT 1 FROM unnest(o.tasks, o.lease_numbers) AS e(task, lease_number)
                WHERE e.task = w.id AND e.lease_number = w.lease_number)
  LIMIT 1
) s
LEFT JOIN LATERAL (
  SELECT o.schedule_time, o.priority FROM skiplane.task o
  WHERE o.lane = $1::int8 AND o.id = w.id
    AND NOT EXISTS (
      SELECT 1 FROM skiplane.settled n
      WHERE n.lane = $1::int8 AND n.numbers && int8range(w.lease_number + 1, NULL)
        AND n.ids @> w.id AND w.id = ANY (n.tasks)
        AND EXISTS (SELECT 1 FROM unnest(n.tasks, n.lease_numbers) AS e(task, lease_number)
                    WHERE e.task = w.id AND e.lease_number > w.lease_number))
  OFFSET 0
) t ON true
