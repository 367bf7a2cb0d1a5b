-- What operators changed, the latest first. $1 only of this queue (empty: any)  $2 id before which
-- to look  $3 at most. One row each: id, time in microseconds, actor, method, queue, request, how
-- many tasks were changed.
-- lanes: any because few rows are written, and they name queues
SELECT a.id, (date_part('epoch', a.at) * 1e6)::int8, a.actor, a.method, a.queue, a.request,
       a.changed
FROM skiplane.audit a
WHERE a.id < $2::int8 AND ($1::text = '' OR a.queue = $1::text)
ORDER BY a.id DESC LIMIT $3::int4
