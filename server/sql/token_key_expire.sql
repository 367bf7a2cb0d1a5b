-- Deletes keys for lease tokens that no lease needs any more: another one has signed for long, and
-- what they may have signed is settled. $1 how long after the other one began to sign, in
-- microseconds, brokers may still have signed with them, and settled leases are remembered.
-- No row. A lease number is the time of its lease.
-- lanes: any because upkeep asks once an hour over a small table
DELETE FROM skiplane.token_key k
USING (
  SELECT o.id, min(n.use_time) + $1::int8 * interval '1 microsecond' AS unused_since
  FROM skiplane.token_key o JOIN skiplane.token_key n ON n.id > o.id
  GROUP BY o.id
) old
WHERE k.id = old.id AND old.unused_since < now() AND NOT EXISTS (
  SELECT FROM skiplane.lease_ledger l CROSS JOIN LATERAL unnest(l.lease_numbers) AS u(number)
  WHERE u.number < (date_part('epoch', old.unused_since) * 1e6)::int8)
