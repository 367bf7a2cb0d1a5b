-- Who holds keys. $1 lane  $2 keys. One row per key that is held: key, task id.
SELECT k.key, k.task_id
FROM unnest($2::text[]) AS w(key)
JOIN skiplane.task_key k ON k.lane = $1::int8 AND k.key = w.key
