-- A broker that may still let in what it checked before it knew of a deletion. $1 the bulk
-- operation. At most one row: its name. One that fell silent counts while it has connections, as it
-- may be frozen; one of before 0.2, whose connections nobody can tell apart, for an hour.
SELECT b.name FROM skiplane.broker b
WHERE NOT $1::uuid = ANY (b.confirmed)
  AND (b.expire_time > now()
       OR (b.version = '' AND b.expire_time > now() - interval '1 hour')
       OR EXISTS (
         SELECT FROM pg_stat_activity a
         WHERE a.datname = current_database()
           AND a.application_name = 'skiplaned ' || left(replace(b.id::text, '-', ''), 16)))
LIMIT 1
