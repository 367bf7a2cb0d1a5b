-- Serves schedule_list: periodic tasks by planned time. A lease does not write what is in it.
CREATE INDEX task_planned ON skiplane.task (planned_time, lane, id)
  WHERE planned_time IS NOT NULL;
