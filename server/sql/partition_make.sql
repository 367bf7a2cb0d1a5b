-- Makes the day partitions ahead. $1 days. One row: how many were made.
SELECT skiplane.make_partitions($1::int4)
