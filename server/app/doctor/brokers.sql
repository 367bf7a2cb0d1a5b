-- The same of what only a database with the schema has.
SELECT 'brokers', (b.amount = 0)::int,
       CASE WHEN b.amount = 0 THEN 'none runs' ELSE format('%s, of %s', b.amount, b.versions) END,
       'start one: nobody gives out tasks'
FROM (
  SELECT count(*) AS amount, string_agg(DISTINCT o.version, ', ') AS versions
  FROM skiplane.broker o WHERE o.expire_time > now()
) b
UNION ALL
SELECT 'upkeep', (l.amount = 0 AND l.brokers > 0)::int,
       CASE WHEN l.amount = 0 THEN 'no broker leads it' ELSE 'one broker leads it' END,
       'see the log of the brokers: a lead is taken within seconds'
FROM (
  SELECT count(*) AS amount,
         (SELECT count(*) FROM skiplane.broker o WHERE o.expire_time > now()) AS brokers
  FROM skiplane.upkeep_lead u WHERE u.expire_time > now()
) l
