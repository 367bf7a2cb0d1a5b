-- How many bytes the payloads and headers of a queue's tasks have. $1 its lanes. One row.
-- Reads all tasks, but not what is stored apart from them: their rows have the length of a payload.
-- lanes: any because the limit is that of all lanes of the queue
SELECT coalesce(sum(octet_length(t.payload) + coalesce(pg_column_size(t.headers), 0)), 0)::int8
FROM skiplane.task t WHERE t.lane = ANY ($1::int8[])
