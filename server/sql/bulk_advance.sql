-- Notes a step of a bulk operation. $1 id  $2 lanes that are left  $3 phase  $4 id after which to
-- look  $5 looked at  $6 matched  $7 changed  $8 state; 1: it goes on. No rows.
UPDATE skiplane.bulk_operation b
SET lanes = $2::int8[], phase = $3::int2, after_id = $4::int8, scanned = b.scanned + $5::int8,
    matched = b.matched + $6::int8, changed = b.changed + $7::int8,
    state = CASE WHEN $8::int2 = 1 THEN b.state ELSE $8::int2 END,
    update_time = now()
WHERE b.id = $1::uuid
