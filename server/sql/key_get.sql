-- Who holds keys. $1 lane  $2 keys. One row per key that is held: key, task id.
SELECT k.key, k.task_id FROM skiplane.task_key k WHERE k.lane = $1::int8 AND k.key = ANY ($2::text[])
