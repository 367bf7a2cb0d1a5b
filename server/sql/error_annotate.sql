-- Says something of an error group. $1 first lane of its queue  $2 fingerprint  $3 the note and $4
-- whether it is muted, as arrays of one (null in them: as it is)  $5 who says it
-- One row: what holds now: note, whether muted, who, and when in microseconds.
INSERT INTO skiplane.error_note AS n (lane, fingerprint, note, muted, actor)
VALUES ($1::int8, $2::text, coalesce((SELECT s.note FROM unnest($3::text[]) AS s(note)), ''),
        coalesce((SELECT s.muted = 1 FROM unnest($4::int2[]) AS s(muted)), false), $5::text)
ON CONFLICT (lane, fingerprint) DO UPDATE
SET note = coalesce((SELECT s.note FROM unnest($3::text[]) AS s(note)), n.note),
    muted = coalesce((SELECT s.muted = 1 FROM unnest($4::int2[]) AS s(muted)), n.muted),
    actor = excluded.actor, update_time = excluded.update_time
RETURNING n.note, n.muted, n.actor, (date_part('epoch', n.update_time) * 1e6)::int8
