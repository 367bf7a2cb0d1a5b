-- What operators changed, the latest first. $1 only of this queue (empty: any)  $2 id before which
-- to look  $3 at most  $4 bytes that they may have together, but always one  $5 rows to look at
-- $6 only of this task (empty: any)  $7 only by this actor (empty: any)  $8 from this time on
-- $9 before this time.
-- One row each: id, time in microseconds, actor, method name, queue, request, how many tasks were
-- changed; bytes up to here; caller; claimed actor. Then one of which only the first column is set,
-- if there is more to look at: the id before which to go on.
-- lanes: any because few rows are written, and they name queues
WITH slice AS MATERIALIZED (
  SELECT a.* FROM skiplane.audit a
  WHERE a.id < $2::int8 AND ($1::text = '' OR a.queue = $1::text)
  ORDER BY a.id DESC LIMIT $5::int4
), match AS MATERIALIZED (
  SELECT s.* FROM slice s
  WHERE ($6::text = '' OR s.request ->> 'task_id' = $6::text)
    AND ($7::text = '' OR s.actor = $7::text)
    AND s.create_time >= $8::timestamptz AND s.create_time < $9::timestamptz
  ORDER BY s.id DESC LIMIT $3::int4 + 1
), sized AS MATERIALIZED (
  SELECT m.*, row_number() OVER (ORDER BY m.id DESC) AS number,
         sum(128 + octet_length(concat(m.actor, m.method_name, m.queue, m.request, m.caller,
                                       m.claimed_actor)))
           OVER (ORDER BY m.id DESC) AS bytes
  FROM match m
), page AS MATERIALIZED (
  SELECT z.* FROM sized z
  WHERE z.number <= $3::int4 AND (z.bytes <= $4::int8 OR z.number = 1)
)
(SELECT p.id, (date_part('epoch', p.create_time) * 1e6)::int8, p.actor, p.method_name, p.queue,
        p.request, p.changed, p.bytes, p.caller, p.claimed_actor
 FROM page p ORDER BY p.id DESC)
UNION ALL
SELECT n.id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (
  SELECT CASE WHEN (SELECT count(*) FROM page) < (SELECT count(*) FROM match)
              THEN (SELECT min(p.id) FROM page p)
              WHEN (SELECT count(*) FROM slice) >= $5::int4 THEN (SELECT min(s.id) FROM slice s)
         END AS id
) n
WHERE n.id IS NOT NULL
