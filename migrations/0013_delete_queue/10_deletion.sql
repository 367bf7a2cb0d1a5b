-- Queues that are removed.
ALTER TABLE skiplane.queue
  ADD COLUMN deletion uuid;  -- the bulk operation that removes it; null: it stays
-- Deletions of which a broker knows: no call that it let in before is still under way.
ALTER TABLE skiplane.broker
  ADD COLUMN confirmed uuid[] NOT NULL DEFAULT '{}';

-- Removes up to about at_most rows of a lane of a queue that is removed. tasks: how many of them
-- were tasks; removed: rows, 0 at the end; last_id: of the tasks, behind which the next call
-- looks on. What others have locked is passed over; counters go with the queue. This and
-- remove_queue run as their owner, so that a broker's role needs no right to change what is kept
-- of finished tasks.
CREATE FUNCTION skiplane.purge_lane(of_lane bigint, at_most int, after_id bigint,
                                    OUT tasks bigint, OUT removed bigint, OUT last_id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place text[];
  gone bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM skiplane.queue_lane l JOIN skiplane.queue q ON q.id = l.queue_id
                 WHERE l.lane = of_lane AND q.deletion IS NOT NULL) THEN
    RAISE 'lane % is of no queue that is removed', of_lane USING ERRCODE = '55000';
  END IF;
  -- From where it went on before: else each call would step over all that is gone.
  WITH living AS (
    DELETE FROM skiplane.task t
    WHERE t.lane = of_lane AND t.id = ANY (ARRAY(
      SELECT o.id FROM skiplane.task o WHERE o.lane = of_lane AND o.id > after_id
      ORDER BY o.id LIMIT at_most FOR UPDATE SKIP LOCKED))
    RETURNING t.id
  )
  SELECT count(*), count(*), coalesce(max(g.id), after_id) INTO tasks, removed, last_id
  FROM living g;
  IF removed >= at_most THEN RETURN; END IF;
  WITH packs AS (
    DELETE FROM skiplane.task_pack p
    WHERE p.lane = of_lane AND p.id = ANY (ARRAY(
      SELECT o.id FROM skiplane.task_pack o WHERE o.lane = of_lane
      ORDER BY o.id LIMIT at_most / 32 + 1 FOR UPDATE SKIP LOCKED))
    RETURNING p.task_count - bit_count(p.gone::bit(64)) AS tasks
  )
  SELECT removed + count(*), purge_lane.tasks + coalesce(sum(p.tasks), 0)
  INTO removed, tasks FROM packs p;
  FOREACH place SLICE 1 IN ARRAY ARRAY[
    ['task_failed', 'id'], ['task_key', 'key'], ['enqueue_request', 'request_id'],
    ['history', 'task_id'], ['pack_history', 'id'], ['minute_statistics', 'minute'],
    ['hour_statistics', 'hour'], ['error_delta', 'fingerprint'], ['error_group', 'fingerprint'],
    ['error_note', 'fingerprint']]
  LOOP
    IF removed >= at_most THEN RETURN; END IF;
    EXECUTE format(
      'DELETE FROM skiplane.%1$I WHERE lane = $1 AND %2$I = ANY (ARRAY('
      'SELECT o.%2$I FROM skiplane.%1$I o WHERE o.lane = $1 LIMIT $2))', place[1], place[2])
    USING of_lane, at_most - removed;
    GET DIAGNOSTICS gone = ROW_COUNT;
    removed := removed + gone;
    IF place[1] = 'task_failed' THEN tasks := tasks + gone; END IF;
  END LOOP;
END $$;

-- Ends the deletion of a queue whose lanes are empty: removes them and it, and stops other bulk
-- operations on it. False if something came or is locked: then purge again.
CREATE FUNCTION skiplane.remove_queue(operation uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  of_queue bigint;
  lanes bigint[];
BEGIN
  -- Who enqueues by SQL holds the row until its commit (open_queue).
  SELECT q.id INTO of_queue FROM skiplane.queue q
  WHERE q.deletion = operation FOR UPDATE SKIP LOCKED;
  IF of_queue IS NULL THEN RETURN false; END IF;
  lanes := ARRAY(SELECT l.lane FROM skiplane.queue_lane l WHERE l.queue_id = of_queue);
  IF EXISTS (SELECT FROM skiplane.task t WHERE t.lane = ANY (lanes))
     OR EXISTS (SELECT FROM skiplane.task_pack p WHERE p.lane = ANY (lanes))
     OR EXISTS (SELECT FROM skiplane.task_failed f WHERE f.lane = ANY (lanes))
     OR EXISTS (SELECT FROM skiplane.task_key k WHERE k.lane = ANY (lanes)) THEN
    RETURN false;
  END IF;
  DELETE FROM skiplane.counter c WHERE c.lane = ANY (lanes);
  DELETE FROM skiplane.counter_delta d WHERE d.lane = ANY (lanes);
  DELETE FROM skiplane.error_delta d WHERE d.lane = ANY (lanes);
  DELETE FROM skiplane.error_group g WHERE g.lane = ANY (lanes);
  DELETE FROM skiplane.error_note n WHERE n.lane = ANY (lanes);
  UPDATE skiplane.bulk_operation b SET state = 3, update_time = now()
  WHERE b.queue_id = of_queue AND b.state IN (1, 4) AND b.id <> operation;
  DELETE FROM skiplane.queue_lane l WHERE l.queue_id = of_queue;
  DELETE FROM skiplane.queue q WHERE q.id = of_queue;
  RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION skiplane.purge_lane, skiplane.remove_queue FROM PUBLIC;

-- A queue that takes tasks. Raises 22023, 42704 or 55000 if there is none. It cannot be removed
-- before the transaction ends: else a task might come after the last look at what it holds.
DROP FUNCTION skiplane.open_queue;
CREATE FUNCTION skiplane.open_queue(queue text, OUT settings jsonb, OUT lanes bigint[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  found record;
BEGIN
  IF queue ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' IS NOT TRUE THEN
    RAISE 'queue: must be 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit'
      USING ERRCODE = '22023';
  END IF;
  SELECT q.id, q.settings, q.pause_mode, q.deletion INTO found
  FROM skiplane.queue q WHERE q.name = open_queue.queue FOR KEY SHARE;
  IF found.id IS NULL THEN
    RAISE 'queue: "%" does not exist: create it at a broker', queue USING ERRCODE = '42704';
  ELSIF found.deletion IS NOT NULL THEN
    RAISE 'queue: "%" is being deleted', queue USING ERRCODE = '55000';
  ELSIF found.pause_mode & 2 <> 0 THEN
    RAISE 'queue: enqueues to "%" are paused: repeat the transaction after it was resumed', queue
      USING ERRCODE = '55000';
  END IF;
  settings := found.settings;
  lanes := ARRAY(SELECT l.lane FROM skiplane.queue_lane l WHERE l.queue_id = found.id
                 ORDER BY l.ordinal);
END $$;
REVOKE EXECUTE ON FUNCTION skiplane.open_queue FROM PUBLIC;
