-- Forgets sessions that do not live and that no ledger row names any more. $1 ids. One that
-- somebody else has at hand is left.
-- An ended one stays until no call can lease for it: until brokers no longer believe that it lives,
-- and calls from before its end, which wait for 60 seconds at most, are over. Then upkeep looks
-- again.
-- One row each that was forgotten: id.
WITH idle AS MATERIALIZED (
  SELECT o.id, o.state, greatest(o.expire_time, o.end_time) + interval '2 minutes' AS needed_until
  FROM skiplane.worker_session o
  WHERE o.id = ANY ($1::uuid[]) AND o.state IN (2, 3)
  FOR UPDATE SKIP LOCKED
), postponed AS (
  UPDATE skiplane.worker_session s SET check_time = i.needed_until
  FROM idle i WHERE s.id = ANY (ARRAY[i.id]) AND i.state = 3 AND i.needed_until > now()
)
DELETE FROM skiplane.worker_session s
USING idle i WHERE s.id = ANY (ARRAY[i.id]) AND (i.state = 2 OR i.needed_until <= now())
RETURNING s.id
