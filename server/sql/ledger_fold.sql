-- Takes up to $2 old ledger rows of a lane and writes what they still hold as few rows of at most
-- 2,000 entries. $1 lane  $2 rows. Rows with a request id, and those that are looked at for the
-- first time, stay by themselves and keep their id: for 2 minutes after a lease its broker may ask
-- what was leased under it.
-- One row per session that still holds something: session; and one with null when any row was
-- taken.
WITH taken AS (
  DELETE FROM skiplane.lease_ledger l
  WHERE l.lane = $1::int8 AND l.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.lease_ledger o
    WHERE o.lane = $1::int8 AND o.check_time < now() ORDER BY o.id LIMIT $2::int4
    FOR UPDATE SKIP LOCKED))
  RETURNING l.id, l.request_id, l.sessions, l.tasks, l.lease_numbers, l.folds
), held AS MATERIALIZED (
  SELECT e.session, e.task, e.lease_number, k.request_id, least(k.folds + 1, 5) AS folds,
         CASE WHEN k.request_id IS NOT NULL OR k.folds = 0 THEN k.id END AS own_id
  FROM taken k
  CROSS JOIN LATERAL unnest(k.sessions, k.tasks, k.lease_numbers) AS e(session, task, lease_number)
  CROSS JOIN LATERAL (
    SELECT 1 FROM skiplane.task t
    WHERE t.lane = $1::int8 AND t.id = e.task AND t.lease_number = e.lease_number AND t.state = 2
    UNION ALL
    SELECT 1 FROM skiplane.packed($1::int8, e.task) p
    WHERE p.lease_number = e.lease_number AND p.state = 2
    OFFSET 0
  ) x
), folded AS (
  INSERT INTO skiplane.lease_ledger
    (lane, id, request_id, sessions, tasks, lease_numbers, folds, check_time)
  SELECT $1::int8, coalesce(g.own_id, gen_random_uuid()), min(g.request_id), array_agg(g.session),
         array_agg(g.task), array_agg(g.lease_number), max(g.folds),
         now() + greatest(3, max(g.folds) * max(g.folds)) * interval '30 seconds'
  FROM (
    SELECT h.*, row_number() OVER (PARTITION BY h.own_id) / 2000 AS part FROM held h
  ) g
  GROUP BY g.own_id, CASE WHEN g.own_id IS NULL THEN g.part END
)
SELECT DISTINCT h.session FROM held h
UNION ALL
SELECT NULL WHERE EXISTS (SELECT 1 FROM taken k)
