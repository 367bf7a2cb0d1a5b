-- Bulk operations, the latest first. $1 only these (empty: any)  $2, $3 created and id before
-- which to look ($2 infinity: from the latest)  $4 at most.
-- One row each: id, request, dry run, state, scanned, matched, changed, total, actor, created and
-- updated in microseconds.
SELECT b.id, b.request, b.dry_run, b.state, b.scanned, b.matched, b.changed, b.total, b.actor,
       (date_part('epoch', b.created_at) * 1e6)::int8,
       (date_part('epoch', b.updated_at) * 1e6)::int8
FROM skiplane.bulk_operation b
WHERE (b.id = ANY ($1::uuid[]) OR cardinality($1::uuid[]) = 0)
  AND (b.created_at, b.id) < ($2::timestamptz, $3::uuid)
ORDER BY b.created_at DESC, b.id DESC LIMIT $4::int4
