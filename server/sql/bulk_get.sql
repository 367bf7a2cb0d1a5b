-- Bulk operations, the latest first. $1 only these (empty: any)  $2, $3 created and id before
-- which to look ($2 infinity: from the latest)  $4 at most  $5 bytes that they may have together,
-- but always one.
-- One row each: id, request, dry run, state, scanned, matched, changed, total, actor, created and
-- updated in microseconds; bytes up to here, whether there are more.
SELECT g.id, g.request, g.dry_run,
       CASE g.state WHEN 4 THEN 1 ELSE g.state END, g.scanned, g.matched, g.changed, g.total,
       g.actor,
       (date_part('epoch', g.create_time) * 1e6)::int8,
       (date_part('epoch', g.update_time) * 1e6)::int8, g.bytes, g.number < g.found
FROM (
  SELECT f.*, row_number() OVER w AS number, count(*) OVER () AS found,
         sum(512 + octet_length(concat(f.actor, f.request))) OVER w AS bytes
  FROM (
    SELECT b.id, b.request, b.dry_run, b.state, b.scanned, b.matched, b.changed, b.total, b.actor,
           b.create_time, b.update_time
    FROM skiplane.bulk_operation b
    WHERE (b.id = ANY ($1::uuid[]) OR cardinality($1::uuid[]) = 0)
      AND (b.create_time, b.id) < ($2::timestamptz, $3::uuid)
    ORDER BY b.create_time DESC, b.id DESC LIMIT $4::int4 + 1
  ) f
  WINDOW w AS (ORDER BY f.create_time DESC, f.id DESC)
) g
WHERE g.number <= $4::int4 AND (g.bytes <= $5::int8 OR g.number = 1)
ORDER BY g.number
