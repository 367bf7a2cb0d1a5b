-- Request ids of Enqueue in rows that cost little. Reasons, and what a broker 0.1.0 beside a newer
-- one needs: docs/adr/2026-11-26-lean-request-ids.md.

-- Enqueue calls with a request id that were answered: a repeat finds here what the call made. The
-- ids of a call are contiguous, so the first is enough. Columns come in an order that wastes no
-- space; no index but one, as answered_request_expire goes through the pages instead.
CREATE TABLE skiplane.answered_request (
  head        bigint NOT NULL,       -- first bytes of the request id: ids that grow stay together
  first_id    bigint NOT NULL,
  body_hash   bigint NOT NULL,       -- tells a repeat from another call with the same request id
  create_time timestamptz NOT NULL,  -- when the call's transaction began
  hash        uuid NOT NULL          -- of lane and request id: together they are unique
);

-- Not a primary key: nothing refers to it, and replication of changes needs none (REPLICA IDENTITY
-- USING INDEX takes it).
CREATE UNIQUE INDEX answered_request_key ON skiplane.answered_request (head, hash);

-- The first 8 bytes as a number; those that are missing count as 0.
CREATE FUNCTION skiplane.leading_bigint(bytes bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('x' || rpad(encode(substr(bytes, 1, 8), 'hex'), 16, '0'))::bit(64)::bigint;

-- What answered_request has instead of a lane and a request id; brokers compute the same.
CREATE FUNCTION skiplane.request_hash(lane bigint, request_id text) RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN encode(substr(sha256(int8send(lane) || convert_to(request_id, 'UTF8')), 1, 16), 'hex')::uuid;

-- Brokers before 0.2 write the request ids of their calls into enqueue_request, and what was
-- answered before this version is there. What they write counts only if the id is new in
-- answered_request, too; where it is not, they are shown in enqueue_request what a newer broker
-- answered. Locks: the request id, in the order in which the rows come.
CREATE FUNCTION skiplane.share_request_id() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  its_head CONSTANT bigint := skiplane.leading_bigint(convert_to(NEW.request_id, 'UTF8'));
  its_hash CONSTANT uuid := skiplane.request_hash(NEW.lane, NEW.request_id);
  its_body CONSTANT bigint := skiplane.leading_bigint(NEW.body_hash);
BEGIN
  IF EXISTS (SELECT FROM skiplane.enqueue_request r
             WHERE r.lane = NEW.lane AND r.request_id = NEW.request_id) THEN
    RETURN NULL;
  END IF;
  INSERT INTO skiplane.answered_request (head, first_id, body_hash, create_time, hash)
  VALUES (its_head, NEW.first_id, its_body, NEW.create_time, its_hash)
  ON CONFLICT (head, hash) DO NOTHING;
  IF FOUND THEN RETURN NEW; END IF;
  INSERT INTO skiplane.enqueue_request (lane, request_id, body_hash, first_id, create_time)
  SELECT NEW.lane, NEW.request_id,
         CASE WHEN a.body_hash = its_body THEN NEW.body_hash ELSE int8send(a.body_hash) END,
         a.first_id, a.create_time
  FROM skiplane.answered_request a WHERE a.head = its_head AND a.hash = its_hash
  ON CONFLICT (lane, request_id) DO NOTHING;
  RETURN NULL;
END $$;

-- Waits until nobody writes request ids as version 1 did: afterwards everybody sees all of those.
CREATE TRIGGER share_request_id BEFORE INSERT ON skiplane.enqueue_request
FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION skiplane.share_request_id();
