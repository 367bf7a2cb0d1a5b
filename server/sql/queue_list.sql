-- Queues by name. $1 only names greater than this  $2 only this name (empty: any)  $3 at most
-- $4 bytes that they may have together, but always one.
-- One row per queue: id, name, settings, pause mode, pause reason, version, created and updated in
-- microseconds, lanes as text "1,2,3" in order; bytes up to here, whether there are
-- more; the bulk operation that removes it.
SELECT g.id, g.name, g.settings, g.pause_mode, g.pause_reason, g.version,
       (date_part('epoch', g.create_time) * 1e6)::int8,
       (date_part('epoch', g.update_time) * 1e6)::int8,
       (SELECT string_agg(l.lane::text, ',' ORDER BY l.ordinal) FROM skiplane.queue_lane l
        WHERE l.queue_id = g.id),
       g.bytes, g.number < g.found, g.deletion
FROM (
  SELECT f.*, row_number() OVER (ORDER BY f.name) AS number, count(*) OVER () AS found,
         sum(512 + octet_length(concat(f.name, f.settings, f.pause_reason))) OVER (ORDER BY f.name)
           AS bytes
  FROM (
    SELECT q.id, q.name, q.settings, q.pause_mode, q.pause_reason, q.version, q.create_time,
           q.update_time, q.deletion
    FROM skiplane.queue q
    WHERE q.name > $1::text AND ($2::text = '' OR q.name = $2::text)
    ORDER BY q.name LIMIT $3::int4 + 1
  ) f
) g
WHERE g.number <= $3::int4 AND (g.bytes <= $4::int8 OR g.number = 1)
ORDER BY g.name
