-- What operators changed, the latest first. $1 only of this queue (empty: any)  $2 id before which
-- to look  $3 at most  $4 bytes that they may have together, but always one.
-- One row each: id, time in microseconds, actor, method name, queue, request, how many tasks were
-- changed; bytes up to here, whether there are more; caller; claimed actor.
-- lanes: any because few rows are written, and they name queues
SELECT g.id, (date_part('epoch', g.create_time) * 1e6)::int8, g.actor, g.method_name, g.queue,
       g.request, g.changed, g.bytes, g.number < g.found, g.caller, g.claimed_actor
FROM (
  SELECT f.*, row_number() OVER (ORDER BY f.id DESC) AS number, count(*) OVER () AS found,
         sum(128 + octet_length(concat(f.actor, f.method_name, f.queue, f.request, f.caller,
                                       f.claimed_actor)))
           OVER (ORDER BY f.id DESC) AS bytes
  FROM (
    SELECT a.id, a.create_time, a.actor, a.method_name, a.queue, a.request, a.changed, a.caller,
           a.claimed_actor
    FROM skiplane.audit a
    WHERE a.id < $2::int8 AND ($1::text = '' OR a.queue = $1::text)
    ORDER BY a.id DESC LIMIT $3::int4 + 1
  ) f
) g
WHERE g.number <= $3::int4 AND (g.bytes <= $4::int8 OR g.number = 1)
ORDER BY g.id DESC
