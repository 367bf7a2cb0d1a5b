-- Removes from ledger rows the leases that are over. Deletes a row that holds nothing; a row whose
-- session is over loses its request id: what it holds is taken back.
-- $1 lane  $2 ids. One row: how many rows were looked at. Rows that others work on are left.
WITH taken AS (
  DELETE FROM skiplane.lease_ledger l
  WHERE l.lane = $1::int8 AND l.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.lease_ledger o
    WHERE o.lane = $1::int8 AND o.id = ANY ($2::uuid[]) ORDER BY o.id FOR UPDATE SKIP LOCKED))
  RETURNING l.id, l.request_id, l.sessions, l.tasks, l.lease_numbers, l.folds, l.check_time
), remaining AS (
  INSERT INTO skiplane.lease_ledger
    (lane, id, request_id, sessions, tasks, lease_numbers, folds, check_time)
  SELECT $1::int8, k.id, k.request_id, array_agg(e.session ORDER BY e.n),
         array_agg(e.task ORDER BY e.n), array_agg(e.lease_number ORDER BY e.n), k.folds,
         k.check_time
  FROM (
    SELECT d.id, d.sessions, d.tasks, d.lease_numbers, d.folds, d.check_time,
           CASE WHEN NOT EXISTS (SELECT FROM skiplane.worker_session s
                                 WHERE s.id = ANY (d.sessions) AND s.state <> 1)
                THEN d.request_id END AS request_id
    FROM taken d
  ) k
  CROSS JOIN LATERAL unnest(k.sessions, k.tasks, k.lease_numbers) WITH ORDINALITY
    AS e(session, task, lease_number, n)
  CROSS JOIN LATERAL (
    SELECT 1 FROM skiplane.task t
    WHERE t.lane = $1::int8 AND t.id = e.task AND t.lease_number = e.lease_number AND t.state = 2
    UNION ALL
    SELECT 1 FROM skiplane.packed($1::int8, e.task) p
    WHERE p.lease_number = e.lease_number AND p.state = 2
    OFFSET 0
  ) x
  GROUP BY k.id, k.request_id, k.folds, k.check_time
)
SELECT count(*) FROM taken
