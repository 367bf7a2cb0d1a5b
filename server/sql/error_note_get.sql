-- What operators say of an error group. $1 first lane of its queue  $2 fingerprint
-- One row, if they say anything: note, whether muted, who, and when in microseconds.
SELECT n.note, n.muted, n.actor, (date_part('epoch', n.update_time) * 1e6)::int8
FROM skiplane.error_note n WHERE n.lane = $1::int8 AND n.fingerprint = $2::text
