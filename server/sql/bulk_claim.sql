-- Takes a running bulk operation for one step. $1 id. One row if it runs and no other step has it:
-- request, whether it only counts, lanes as text "{1,2}", phase, id after which to look, stage
-- (null: any).
SELECT b.request, b.dry_run, b.lanes, b.phase, b.after_id, b.stage
FROM skiplane.bulk_operation b
WHERE b.id = $1::uuid AND b.state IN (1, 4)
FOR UPDATE SKIP LOCKED
