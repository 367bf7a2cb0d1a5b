-- What the database is. One row: now in microseconds, PostgreSQL's version, the last migration.
SELECT (date_part('epoch', now()) * 1e6)::int8, current_setting('server_version'),
       (SELECT max(v.version) FROM skiplane.schema_version v)
