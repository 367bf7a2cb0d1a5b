-- Notes that a step of the clock is mended. $1 the time before it. No row.
UPDATE skiplane.clock_step c SET mended_at = now() WHERE c.was_at = $1::timestamptz
