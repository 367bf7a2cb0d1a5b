-- Queues by name. $1 only names greater than this  $2 only this name (empty: any)  $3 at most.
-- One row per queue: id, name, settings, pause, pause reason, version, created and updated in
-- microseconds, lanes as text "1,2,3" in order.
SELECT q.id, q.name, q.settings, q.pause, q.pause_reason, q.version,
       (date_part('epoch', q.created_at) * 1e6)::int8,
       (date_part('epoch', q.updated_at) * 1e6)::int8,
       (SELECT string_agg(l.lane::text, ',' ORDER BY l.ordinal) FROM skiplane.queue_lane l
        WHERE l.queue_id = q.id)
FROM skiplane.queue q
WHERE q.name > $1::text AND ($2::text = '' OR q.name = $2::text)
ORDER BY q.name LIMIT $3::int4
