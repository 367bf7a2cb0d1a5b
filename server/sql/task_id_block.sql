-- The first of the next 4,096 task numbers; they are the caller's.
SELECT nextval('skiplane.task_id')
