-- Error groups of some lanes that have tasks, the latest seen first. $1 lanes  $2 stage as an array
-- (null in it: any)  $3, $4, $5 seen in microseconds, stage and fingerprint after which to go on
-- $6 at most  $7 bytes that they may have together, but always one  $8 of each lane: a number of
-- its queue, its first one  $9 that of the group after which to go on  $10 without muted ones.
-- Lane by lane: a join would compare each group with each lane.
-- lanes: any because an operator asks for all lanes of a queue, or for all queues
-- One row each: fingerprint, stage, type, text, retrying, failed, first seen and last seen in
-- microseconds, tasks as "lane-id" with commas between; bytes up to here, whether there are more,
-- number of the queue; what operators say of it (null: nothing): note, whether it is muted, who,
-- and when in microseconds; failures in each of the last 48 hours, the oldest first, with commas
-- between.
SELECT k.fingerprint, k.stage, k.error_type, k.error_text, k.retrying, k.failed,
       (date_part('epoch', k.first_seen_time) * 1e6)::int8, k.seen, k.tasks, k.bytes,
       k.number < k.found, k.queue, n.note, n.muted, n.actor,
       (date_part('epoch', n.update_time) * 1e6)::int8, t.hourly_failures
FROM (
  SELECT p.*, row_number() OVER w AS number, count(*) OVER () AS found,
         sum(512 + octet_length(concat(p.fingerprint, p.error_type))
             + coalesce(octet_length(p.error_text), 0)) OVER w AS bytes
  FROM (
    SELECT g.* FROM (
      SELECT a.queue, a.fingerprint, a.stage, sum(a.retrying) AS retrying, sum(a.failed) AS failed,
             min(a.first_seen_time) AS first_seen_time,
             (date_part('epoch', max(a.last_seen_time)) * 1e6)::int8 AS seen,
             (array_agg(a.error_type ORDER BY a.last_seen_time DESC))[1] AS error_type,
             (array_agg(a.error_text ORDER BY a.last_seen_time DESC))[1] AS error_text,
             -- 5 and more, some of them twice. What is cut off may be a part of an id.
             left(string_agg(a.tasks, ',' ORDER BY a.last_seen_time DESC), 2000) AS tasks,
             array_agg(DISTINCT a.lane) AS lanes, jsonb_agg(a.failures) AS new_failures
      FROM (
        SELECT l.lane, l.queue, e.fingerprint, e.stage, e.retrying, e.failed, e.first_seen_time,
               e.last_seen_time, e.error_type, substr(e.error_text, 1, 4096) AS error_text,
               (SELECT string_agg(e.lane || '-' || t, ',') FROM unnest(e.tasks) AS t) AS tasks,
               '{}'::jsonb AS failures
        FROM unnest($1::int8[], $8::int8[]) AS l(lane, queue)
        CROSS JOIN LATERAL (
          SELECT o.* FROM skiplane.error_group o
          WHERE o.lane = l.lane AND coalesce(o.stage = ($2::int2[])[1], true)
          OFFSET 0
        ) e
        UNION ALL
        SELECT l.lane, l.queue, d.fingerprint, d.stage, d.retrying, d.failed,
               coalesce(d.seen_time, 'infinity'), coalesce(d.seen_time, '-infinity'), d.error_type,
               substr(d.error_text, 1, 4096),
               (SELECT string_agg(d.lane || '-' || t, ',') FROM unnest(d.tasks) AS t),
               CASE WHEN d.failures = 0 THEN '{}' ELSE jsonb_build_object(
                 floor(date_part('epoch', d.seen_time) / 3600)::int8, d.failures) END
        FROM unnest($1::int8[], $8::int8[]) AS l(lane, queue)
        CROSS JOIN LATERAL (
          SELECT o.* FROM skiplane.error_delta o
          WHERE o.lane = l.lane AND coalesce(o.stage = ($2::int2[])[1], true)
          OFFSET 0
        ) d
      ) a
      GROUP BY a.queue, a.fingerprint, a.stage
    ) g
    WHERE g.retrying + g.failed > 0
      AND NOT ($10::bool AND (g.queue, g.fingerprint) IN (
        SELECT m.lane, m.fingerprint FROM skiplane.error_note m
        WHERE m.lane = ANY ($8::int8[]) AND m.muted))
      AND (-g.seen, g.queue, g.stage, g.fingerprint) > (-$3::int8, $9::int8, $4::int2, $5::text)
    ORDER BY g.seen DESC, g.queue, g.stage, g.fingerprint LIMIT $6::int4 + 1
  ) p
  WINDOW w AS (ORDER BY p.seen DESC, p.queue, p.stage, p.fingerprint)
) k
LEFT JOIN skiplane.error_note n ON n.lane = k.queue AND n.fingerprint = k.fingerprint
CROSS JOIN LATERAL (
  SELECT string_agg(coalesce(f.failures, 0)::text, ',' ORDER BY h.hour) AS hourly_failures
  FROM (
    SELECT floor(date_part('epoch', now()) / 3600)::int8 - o AS hour
    FROM generate_series(0, 47) AS o
  ) h
  LEFT JOIN (
    SELECT e.key::int8 AS hour, sum(e.value::int8) AS failures
    FROM (
      SELECT s.part FROM jsonb_array_elements(k.new_failures) AS s(part)
      UNION ALL
      SELECT g.hourly_failures FROM unnest(k.lanes) AS l(lane)
      CROSS JOIN LATERAL (
        SELECT o.hourly_failures FROM skiplane.error_group o
        WHERE o.lane = l.lane AND o.stage = k.stage AND o.fingerprint = k.fingerprint
        OFFSET 0
      ) g
    ) p
    CROSS JOIN LATERAL jsonb_each_text(p.part) e
    GROUP BY 1
  ) f ON f.hour = h.hour
) t
WHERE k.number <= $6::int4 AND (k.bytes <= $7::int8 OR k.number = 1)
ORDER BY k.number
