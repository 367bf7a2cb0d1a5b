-- Serves bulk_create, which counts the operations of a queue that run. Steps change neither column,
-- so that they write no index.
CREATE INDEX bulk_operation_running ON skiplane.bulk_operation (queue_id) WHERE state IN (1, 4);
