-- Removes a queue whose lanes are purged. $1 the bulk operation. One row: whether it is gone; else
-- its lanes are to be purged once more.
SELECT skiplane.remove_queue($1::uuid)
