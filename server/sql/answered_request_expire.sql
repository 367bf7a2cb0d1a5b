-- Forgets request ids of long ago that are in some pages of their table: rows are written in the
-- order of their time, so that no index has to say where old ones are. $1 first page  $2 pages
-- $3 age in microseconds.
-- One row: how many went, and how many pages the table has.
WITH deleted AS (
  DELETE FROM skiplane.answered_request r
  WHERE r.ctid >= format('(%s,0)', $1::int8)::tid
    AND r.ctid < format('(%s,0)', $1::int8 + $2::int8)::tid
    AND r.create_time < now() - $3::int8 * interval '1 microsecond'
  RETURNING 1
)
SELECT count(*),
       pg_relation_size('skiplane.answered_request') / current_setting('block_size')::int8
FROM deleted
