-- Locks tasks, so that the next statement of the transaction finds them as they stay. $1 lane
-- $2 ids. One row per task that lives: id.
-- locks: any because a settlement that others overtook repeatedly waits for its turn here
SELECT x.id
FROM (SELECT DISTINCT u.id FROM unnest($2::int8[]) AS u(id) ORDER BY u.id) w
CROSS JOIN LATERAL (
  SELECT o.id FROM skiplane.task o WHERE o.lane = $1::int8 AND o.id = w.id FOR UPDATE
) x
