"""The database with the broker's schema that those of tests are copied from, which spares each
broker to make it. Made once per cluster, under the name and the lock of
tests/support/database_migrated.cc."""

import fcntl
import os
import subprocess

from support import broker
from support.database import run_sql
from support.process import GENEROUS_S

NAME = "skiplane_migrated"
DRAFT = "skiplane_migrated_draft"
BROKER_USER = "skiplane_test_broker"


def made_in(cluster):
    """Its name."""
    with open(os.path.join(cluster.folder, "template.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        postgres = cluster.uri("postgres")
        if not run_sql(postgres, f"SELECT 1 FROM pg_database WHERE datname = '{NAME}'"):
            run_sql(postgres, f"DROP DATABASE IF EXISTS {DRAFT} WITH (FORCE)")
            run_sql(postgres, f"CREATE DATABASE {DRAFT}")
            subprocess.run([broker.program(), "migrate", f"--database={cluster.uri(DRAFT)}"],
                           check=True, capture_output=True, timeout=GENEROUS_S)
            run_sql(postgres, f"DROP ROLE IF EXISTS {BROKER_USER};"
                              f"CREATE ROLE {BROKER_USER} LOGIN IN ROLE skiplane_broker")
            run_sql(postgres, f"ALTER DATABASE {DRAFT} RENAME TO {NAME}")
    return NAME
