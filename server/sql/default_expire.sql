-- Deletes rows of days that had no partition when they were written. $1 rows at most.
-- One row: how many.
-- lanes: any because upkeep asks once an hour over tables that are nearly always empty
WITH history AS (
  DELETE FROM skiplane.history_default h
  WHERE h.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.history_default o WHERE o.expire_time < now() LIMIT $1::int4
    FOR UPDATE SKIP LOCKED))
  RETURNING 1
), packs AS (
  DELETE FROM skiplane.pack_history_default h
  WHERE h.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.pack_history_default o WHERE o.expire_time < now() LIMIT $1::int4
    FOR UPDATE SKIP LOCKED))
  RETURNING 1
), failed AS (
  DELETE FROM skiplane.task_failed_default f
  WHERE f.ctid = ANY (ARRAY(
    SELECT o.ctid FROM skiplane.task_failed_default o WHERE o.expire_time < now() LIMIT $1::int4
    FOR UPDATE SKIP LOCKED))
  RETURNING f.lane, f.stage, f.error_fingerprint
), grouped AS (
  INSERT INTO skiplane.error_delta (lane, stage, fingerprint, failed)
  SELECT f.lane, f.stage, f.error_fingerprint, -count(*)
  FROM failed f WHERE f.error_fingerprint IS NOT NULL GROUP BY f.lane, f.stage, f.error_fingerprint
)
SELECT (SELECT count(*) FROM history) + (SELECT count(*) FROM packs) + (SELECT count(*) FROM failed)
