#include "tests/store/pack/packer.h"

namespace skiplane::testing {
namespace {

constexpr char kPackTasks[] = R"sql(
CREATE TEMP TABLE ordinary AS
SELECT t.*, i.island + (row_number() OVER w - 1) / 64 * 1000000 AS pack
FROM (
  SELECT o.*, o.id - row_number() OVER (PARTITION BY o.lane, o.priority, o.max_attempts,
                                                     o.state ORDER BY o.id) AS island
  FROM skiplane.task o
  WHERE o.stage = 0 AND o.due = 0 AND o.schedule_time <= now() AND o.attempt = o.state - 1
    AND concat(o.key, o.version, o.planned_time, o.error_type, o.last_progress) = ''
    AND o.cancel_requested IS NULL
) i
CROSS JOIN LATERAL (SELECT i.*) t
WINDOW w AS (PARTITION BY i.lane, i.priority, i.max_attempts, i.state, i.island ORDER BY i.id);
INSERT INTO skiplane.task_pack
  (lane, id, schedule_time, create_time, max_attempts, bytes, task_count, priority, state,
   sessions, lease_numbers, masks, content_types, headers, payloads)
SELECT p.*, l.sessions, l.lease_numbers, l.masks, c.content_types, c.headers, c.payloads
FROM (
  SELECT o.lane, min(o.id) AS id, min(o.schedule_time), min(o.create_time), o.max_attempts,
         sum(octet_length(o.payload) + coalesce(pg_column_size(o.headers), 0)), count(*) AS tasks,
         o.priority, o.state
  FROM ordinary o GROUP BY o.lane, o.priority, o.max_attempts, o.state, o.pack
) p
CROSS JOIN LATERAL (
  SELECT coalesce(array_agg(g.session), '{}') AS sessions,
         coalesce(array_agg(g.lease_number), '{}') AS lease_numbers,
         coalesce(array_agg(g.mask), '{}') AS masks
  FROM (
    SELECT o.session, o.lease_number, bit_or(1::int8 << (o.id - p.id)::int) AS mask
    FROM ordinary o
    WHERE o.lane = p.lane AND o.id BETWEEN p.id AND p.id + p.tasks - 1 AND o.state = 2
    GROUP BY o.session, o.lease_number
  ) g
) l
CROSS JOIN LATERAL (
  SELECT CASE WHEN count(o.content_type) > 0 THEN array_agg(o.content_type ORDER BY o.id) END
           AS content_types,
         CASE WHEN count(o.headers) > 0 THEN array_agg(o.headers ORDER BY o.id) END AS headers,
         array_agg(o.payload ORDER BY o.id) AS payloads
  FROM ordinary o WHERE o.lane = p.lane AND o.id BETWEEN p.id AND p.id + p.tasks - 1
) c;
DELETE FROM skiplane.task t USING ordinary o WHERE t.lane = o.lane AND t.id = o.id;
DROP TABLE ordinary;
)sql";

constexpr char kPackAttempts[] = R"sql(
INSERT INTO skiplane.pack_history
  (lane, id, expire_time, end_time, schedule_time, create_time, max_attempts, priority, sessions,
   lease_numbers, masks)
SELECT g.lane, g.pack, min(g.expire_time), g.end_time, g.schedule_time, g.create_time,
       g.max_attempts, g.priority, array_agg(g.session), array_agg(g.lease_number),
       array_agg(g.mask)
FROM (
  SELECT h.lane, h.pack, min(h.expire_time) AS expire_time, h.end_time, h.schedule_time,
         h.create_time, h.max_attempts, h.priority, h.session,
         (date_part('epoch', h.lease_time) * 1e6)::int8 AS lease_number,
         bit_or(1::int8 << (h.task_id - h.pack)::int) AS mask
  FROM (
    SELECT o.*, min(o.task_id) OVER (PARTITION BY o.lane) AS pack FROM skiplane.history o
    WHERE o.outcome = 1
  ) h
  GROUP BY h.lane, h.pack, h.end_time, h.schedule_time, h.create_time, h.max_attempts, h.priority,
           h.session, h.lease_time
) g
GROUP BY g.lane, g.pack, g.end_time, g.schedule_time, g.create_time, g.max_attempts, g.priority;
DELETE FROM skiplane.history h WHERE h.outcome = 1;
)sql";

}  // namespace

std::string PackTasks() { return kPackTasks; }
std::string PackAttempts() { return kPackAttempts; }

}  // namespace skiplane::testing
