-- Forgets sessions that do not live and that no ledger row names any more. $1 ids.
-- An ended one stays until no call can lease for it: until brokers no longer believe that it lives,
-- and calls from before its end, which wait for 60 seconds at most, are over. Then upkeep looks
-- again.
-- One row each that was forgotten: id.
WITH kept AS (
  UPDATE skiplane.worker_session s
  SET check_at = greatest(s.expires_at, s.ended_at) + interval '2 minutes'
  WHERE s.id = ANY ($1::uuid[]) AND s.state = 3
    AND greatest(s.expires_at, s.ended_at) + interval '2 minutes' > now()
)
DELETE FROM skiplane.worker_session s
WHERE s.id = ANY ($1::uuid[])
  AND (s.state = 2
       OR (s.state = 3 AND greatest(s.expires_at, s.ended_at) + interval '2 minutes' <= now()))
RETURNING s.id
