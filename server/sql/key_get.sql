-- Who holds keys. $1 lane  $2 keys. One row per key that is held: key, task id, the task's state
-- (1 scheduled, 2 ready, 3 leased, 4 succeeded, 5 failed, 6 cancelled), when it ended in
-- microseconds (null: it lives).
SELECT w.key, x.task_id,
       coalesce(x.end_state, (
         SELECT CASE WHEN t.state = 2 THEN 3 WHEN t.schedule_time > clock_timestamp() THEN 1
                     ELSE 2 END
         FROM skiplane.task t WHERE t.lane = $1::int8 AND t.id = x.task_id), 2),
       (date_part('epoch', x.end_time) * 1e6)::int8
FROM unnest($2::text[]) AS w(key)
CROSS JOIN LATERAL (
  SELECT k.task_id, k.end_state, k.end_time FROM skiplane.task_key k
  WHERE k.lane = $1::int8 AND k.key = w.key OFFSET 0
) x
