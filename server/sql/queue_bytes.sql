-- How many bytes the payloads and headers of a queue's tasks have. $1 its lanes. One row.
-- Reads all tasks, but not what is stored apart from them: their rows have the length of a payload.
-- lanes: any because the limit is that of all lanes of the queue
-- What is left of a pack has its part of the whole one's bytes.
SELECT ((SELECT coalesce(sum(octet_length(t.payload) + coalesce(pg_column_size(t.headers), 0)), 0)
         FROM skiplane.task t WHERE t.lane = ANY ($1::int8[]))
        + (SELECT coalesce(sum(p.bytes::int8 * (p.task_count - bit_count(p.gone::bit(64)))
                               / p.task_count), 0)
           FROM skiplane.task_pack p WHERE p.lane = ANY ($1::int8[])))::int8
