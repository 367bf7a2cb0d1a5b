-- Notes that a step of the clock is mended. $1 the time before it. No row.
UPDATE skiplane.clock_step c SET mend_time = now() WHERE c.old_time = $1::timestamptz
