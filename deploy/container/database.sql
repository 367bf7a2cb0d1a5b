-- The account of the brokers and its database, when the container of PostgreSQL first starts. It
-- owns the database, which it migrates, and is no superuser.
\set password `cat /run/secrets/skiplane-password`
CREATE ROLE skiplane LOGIN PASSWORD :'password';
CREATE DATABASE skiplane OWNER skiplane;
REVOKE CONNECT ON DATABASE skiplane FROM PUBLIC;
