-- Living periodic tasks in the order of their planned times. $1 planned time, $2 lane, $3 id behind
-- which to go on  $4 rows to look at  $5 only of these lanes (empty: of any)  $6 at most.
-- lanes: any because an operator asks for all queues
-- First one row for the last that was looked at, if there may be more behind it, then one per
-- match: whether it is a match, planned time in microseconds, lane, id.
WITH slice AS MATERIALIZED (
  SELECT t.planned_time, t.lane, t.id, row_number() OVER w AS number
  FROM (
    SELECT o.planned_time, o.lane, o.id FROM skiplane.task o
    WHERE o.planned_time >= $1::timestamptz
      AND (o.planned_time, o.lane, o.id) > ($1::timestamptz, $2::int8, $3::int8)
    ORDER BY o.planned_time, o.lane, o.id LIMIT $4::int4
  ) t
  WINDOW w AS (ORDER BY t.planned_time, t.lane, t.id)
)
(SELECT false, (date_part('epoch', s.planned_time) * 1e6)::int8, s.lane, s.id
 FROM slice s WHERE s.number = $4::int4)
UNION ALL
(SELECT true, (date_part('epoch', s.planned_time) * 1e6)::int8, s.lane, s.id
 FROM slice s WHERE s.lane = ANY ($5::int8[]) OR cardinality($5::int8[]) = 0
 ORDER BY s.number LIMIT $6::int4)
ORDER BY 1, 2, 3, 4
