-- What operators say of error groups: one row for each of a queue, under its first lane.
CREATE TABLE skiplane.error_note (
  lane        bigint NOT NULL,
  fingerprint text NOT NULL,
  note        text NOT NULL,
  muted       boolean NOT NULL,
  actor       text NOT NULL,  -- as in audit
  update_time timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (lane, fingerprint)
);
