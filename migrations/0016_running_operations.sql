-- Serves bulk_create, which counts the operations of a queue that run, and bulk_idle. Steps of an
-- operation change nothing that is in it.
CREATE INDEX bulk_operation_running ON skiplane.bulk_operation (queue_id) WHERE state IN (1, 4);
