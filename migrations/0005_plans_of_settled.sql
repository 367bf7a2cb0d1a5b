-- As version 4, of settled.
DROP INDEX skiplane.settled_time;
CREATE INDEX settled_time ON skiplane.settled (settle_time, lane) WHERE settle_time IS NOT NULL;
