-- Whether no transaction that enqueued by SQL is still open. To the end of this one none begins;
-- later ones are refused. $1 the bulk operation. One row if so: the queue's id.
SELECT q.id FROM skiplane.queue q WHERE q.deletion = $1::uuid FOR UPDATE SKIP LOCKED
