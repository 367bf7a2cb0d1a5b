-- Audit records tell where a change came from, whatever its caller said of itself.

ALTER TABLE skiplane.audit
  ADD peer text NOT NULL DEFAULT '';  -- the name in the caller's certificate, else its address

COMMENT ON COLUMN skiplane.audit.actor IS
  'what the caller said of itself in the metadata "skiplane-actor", else the peer';
