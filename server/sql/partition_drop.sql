-- Drops a day of history or of dead letters that is over. One row: its name, or null.
SELECT skiplane.drop_partition()
