-- Locks keys: those of tasks of one lane, and those of any lanes that are about to be enqueued. A
-- key that nobody has is locked by a row for no task, which key_unfill removes; who wants to make
-- it waits all the same. Goes after task_lock in its transaction. $1 lane  $2 ids of tasks
-- $3 lanes of keys  $4 the keys. One row per key that nobody has: its lane.
-- lanes: any because what follows a task may be of another queue
INSERT INTO skiplane.task_key AS h (lane, key, task_id)
SELECT w.lane, w.key, 0
FROM (
  SELECT $1::int8 AS lane, t.key
  FROM unnest($2::int8[]) AS u(id)
  CROSS JOIN LATERAL (
    SELECT o.key FROM skiplane.task o WHERE o.lane = $1::int8 AND o.id = u.id OFFSET 0
  ) t
  WHERE t.key IS NOT NULL
  UNION
  SELECT u.lane, u.key FROM unnest($3::int8[], $4::text[]) AS u(lane, key)
) w
ORDER BY w.lane, w.key
ON CONFLICT (lane, key) DO UPDATE SET task_id = h.task_id WHERE false
RETURNING h.lane
