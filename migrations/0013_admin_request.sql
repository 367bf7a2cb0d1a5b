-- Changes that operators made with a request id: a repeat of the call finds here that it was made.
-- The row is written by the transaction of the change itself.

CREATE TABLE skiplane.admin_request (
  id         bytea PRIMARY KEY,  -- SHA-256 of the request id
  body_hash  bytea NOT NULL,     -- SHA-256 of the method and of the request without its id
  outcome    text NOT NULL DEFAULT '',  -- what a repeat could not learn elsewhere
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX admin_request_age ON skiplane.admin_request (created_at);
