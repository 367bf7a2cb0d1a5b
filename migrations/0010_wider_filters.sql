-- Bulk operations whose filter brokers before 0.2 would not understand run in a state of their own,
-- so that those leave them alone.
ALTER TABLE skiplane.bulk_operation DROP CONSTRAINT bulk_operation_state_check;
ALTER TABLE skiplane.bulk_operation
  ADD CONSTRAINT bulk_operation_state_check CHECK (state BETWEEN 1 AND 4);
