-- As version 4, of enqueue_request.
DROP INDEX skiplane.enqueue_request_time;
CREATE INDEX enqueue_request_time ON skiplane.enqueue_request (create_time, lane)
  WHERE create_time IS NOT NULL;
