-- Locks tasks, so that the next statement of the transaction finds them as they stay: those of one
-- lane, and those that hold keys of any lanes. $1 lane  $2 ids  $3 lanes of keys  $4 the keys. One
-- row per task that lives: id.
-- lanes: any because what follows a task may be of another queue
-- locks: any because a settlement that others overtook repeatedly waits for its turn here
SELECT x.id
FROM (
  SELECT $1::int8 AS lane, u.id FROM unnest($2::int8[]) AS u(id)
  UNION
  SELECT u.lane, k.task_id
  FROM unnest($3::int8[], $4::text[]) AS u(lane, key)
  CROSS JOIN LATERAL (
    SELECT o.task_id, o.end_time FROM skiplane.task_key o
    WHERE o.lane = u.lane AND o.key = u.key OFFSET 0
  ) k
  WHERE k.end_time IS NULL
  ORDER BY lane, id
) w
CROSS JOIN LATERAL (
  SELECT o.id FROM skiplane.task o WHERE o.lane = w.lane AND o.id = w.id FOR UPDATE
) x
