-- The bytes that a table with its indexes, or an index, takes. $1 its name.
-- One row; null if it is gone.
SELECT pg_total_relation_size(to_regclass(format('skiplane.%I', $1::text)))
