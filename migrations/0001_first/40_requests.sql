-- Calls that may be repeated, and what operators changed.

-- Enqueue calls with a request id that were answered: a repeat finds here what the call made. The
-- ids of a call are contiguous, so the first is enough.
CREATE TABLE skiplane.enqueue_request (
  lane        bigint NOT NULL,
  request_id  text NOT NULL,
  body_hash   bytea NOT NULL,  -- tells a repeat from another call with the same request id
  first_id    bigint NOT NULL,
  create_time timestamptz NOT NULL,
  PRIMARY KEY (lane, request_id)
);

-- Serves enqueue_request_expire.
CREATE INDEX enqueue_request_time ON skiplane.enqueue_request (create_time, lane);

-- Operators' changes with a request id: a repeat of the call finds here that it was made. The row
-- is written by the transaction of the change itself.
CREATE TABLE skiplane.admin_request (
  id          bytea PRIMARY KEY,         -- SHA-256 of the request id
  body_hash   bytea NOT NULL,            -- SHA-256 of the method and of the request without its id
  outcome     text NOT NULL DEFAULT '',  -- what a repeat could not learn elsewhere
  create_time timestamptz NOT NULL DEFAULT now()
);

-- Serves admin_request_expire.
CREATE INDEX admin_request_time ON skiplane.admin_request (create_time);

-- What operators changed: who, when, what and how many, written with the change.
CREATE TABLE skiplane.audit (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  create_time timestamptz NOT NULL DEFAULT now(),
  actor       text NOT NULL,
  method_name text NOT NULL,
  queue       text NOT NULL,
  request     jsonb NOT NULL,
  changed     bigint NOT NULL,
  caller      text NOT NULL,  -- the name in the caller's certificate, else its address
  claimed_actor text NOT NULL
);

-- Kept in the database for those who read the table itself: anybody can claim to be somebody.
COMMENT ON COLUMN skiplane.audit.actor IS
  'who the caller proved to be; where nobody has to: its claimed_actor, else its caller';
COMMENT ON COLUMN skiplane.audit.claimed_actor IS
  'what the caller said of itself in the metadata "skiplane-actor"; proves nothing';

-- Serves audit_list of one queue.
CREATE INDEX audit_queue ON skiplane.audit (queue, id);

-- Changes of many tasks in small steps, by whichever broker has time.
CREATE TABLE skiplane.bulk_operation (
  id          uuid PRIMARY KEY,
  queue_id    bigint NOT NULL,
  request     jsonb NOT NULL,               -- filter and action
  stage       smallint,                     -- of the filter, which names it as it was called then
  dry_run     boolean NOT NULL,
  state       smallint NOT NULL DEFAULT 1 CHECK (state BETWEEN 1 AND 3),  -- running, done, stopped
  lanes       bigint[] NOT NULL,            -- still to be gone through, the first one being at hand
  phase       smallint NOT NULL DEFAULT 1,  -- 1 living tasks of a lane by their ids, 2 failed ones
  after_id    bigint NOT NULL DEFAULT 0,    -- how far the lane at hand was gone through
  scanned     bigint NOT NULL DEFAULT 0,
  matched     bigint NOT NULL DEFAULT 0,
  changed     bigint NOT NULL DEFAULT 0,
  total       bigint NOT NULL DEFAULT 0,    -- how many there were to scan at the start
  actor       text NOT NULL,
  create_time timestamptz NOT NULL DEFAULT now(),
  update_time timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);                  -- each step updates the row

-- Serves bulk_get and bulk_idle: by age.
CREATE INDEX bulk_operation_time ON skiplane.bulk_operation (create_time);
