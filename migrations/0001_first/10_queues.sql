-- The first version of the schema, in parts that the build joins to one text: they are applied in
-- one transaction, in the order of their names.
--
-- It is written for statements of many rows from a few brokers. Every key of the task family holds
-- the lane, which is the unit of distribution. An index begins with what its statements name
-- besides the lane. Nothing that a lease writes is in an index, so that a lease is a HOT update.
-- What grows with the finished work is outside the hot table.
--
-- Times are the database's clock. Brokers of two versions may share a database, so the number of a
-- state or an outcome never changes its meaning.

-- Queues are few, cached by brokers, and never locked by hot statements.
CREATE TABLE skiplane.queue (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name         text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  settings     jsonb NOT NULL,             -- what is not in it has its default
  pause_mode   smallint NOT NULL DEFAULT 0 CHECK (pause_mode BETWEEN 0 AND 3),
                                             -- 1 lease, 2 enqueue
  pause_reason text NOT NULL DEFAULT '',
  version      bigint NOT NULL DEFAULT 1,  -- grows with every change, for those who update
  create_time  timestamptz NOT NULL DEFAULT now(),
  update_time  timestamptz NOT NULL DEFAULT now()
);

-- The lanes of a queue. Their number is fixed when the queue is created, because the lane of a key
-- depends on it.
CREATE TABLE skiplane.queue_lane (
  lane     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue_id bigint NOT NULL REFERENCES skiplane.queue (id),
  ordinal  int NOT NULL,  -- from 0
  UNIQUE (queue_id, ordinal)
);
