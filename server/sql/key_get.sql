-- Who holds keys. $1 lane  $2 keys. One row per key that is held: key, task id.
SELECT w.key, x.task_id
FROM unnest($2::text[]) AS w(key)
CROSS JOIN LATERAL (
  SELECT k.task_id FROM skiplane.task_key k WHERE k.lane = $1::int8 AND k.key = w.key OFFSET 0
) x
