"""A database of a test's own, and a look at its rows."""

import time
import uuid

import psycopg2
from psycopg2 import extensions

from support.process import GENEROUS_S, Process


class Database:
    broker_user = "skiplane"  # who migrates, too

    def __init__(self, cluster, template="template0"):
        self._cluster = cluster
        self.name = f"t_{uuid.uuid4().hex}"
        self._run("postgres", f"CREATE DATABASE {self.name} TEMPLATE {template}")

    @classmethod
    def named(cls, cluster, name):
        """One that is there."""
        database = cls.__new__(cls)
        database._cluster, database.name = cluster, name
        return database

    @property
    def uri(self):
        return self._cluster.uri(self.name)

    @property
    def broker_uri(self):
        return self.uri_as(self.broker_user)

    def uri_as(self, user):
        return self._cluster.uri(self.name, user)

    def run(self, sql):
        """The rows of the last statement, as tuples of text."""
        return self._run(self.name, sql)

    def value(self, sql):
        return self.run(sql)[0][0]

    def number(self, sql):
        return int(self.value(sql))

    def eventually(self, sql, wanted="t", bound_s=GENEROUS_S):
        """Looks again and again until the first value is `wanted`."""
        end = time.monotonic() + bound_s
        while (found := self.value(sql)) != wanted:
            if time.monotonic() > end:
                raise AssertionError(f"{sql}: {found}, not {wanted}")

    def pass_time(self, seconds):
        """By the database's clock. Not to wait for something that could be waited for."""
        end = self.value(f"SELECT clock_timestamp() + interval '{seconds} s'")
        self.eventually(f"SELECT clock_timestamp() >= '{end}'")

    def wait_for_lock_wait(self):
        """Until somebody waits for a lock of this database: the cluster has others', too."""
        self.eventually("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND database ="
                        " (SELECT oid FROM pg_database WHERE datname = current_database())")

    def make_due(self):
        """As if the run time of all waiting tasks had come."""
        self.run("UPDATE skiplane.task SET schedule_time = clock_timestamp() WHERE state = 1")

    def expire_sessions(self, which="true"):
        """As if no worker had beaten for its lease time. What a broker still writes of earlier
        messages, or as grace after a gap, prolongs no session that has ended so."""
        self.run("CREATE OR REPLACE FUNCTION public.stay_expired() RETURNS trigger"
                 " LANGUAGE plpgsql AS $$ BEGIN"
                 " NEW.expire_time = OLD.expire_time; RETURN NEW; END $$;"
                 "CREATE OR REPLACE TRIGGER stay_expired BEFORE UPDATE ON skiplane.worker_session"
                 " FOR EACH ROW"
                 " WHEN (OLD.expire_time < now() AND NEW.expire_time > OLD.expire_time) EXECUTE"
                 " FUNCTION public.stay_expired()")
        self.run("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 s'"
                 f" WHERE {which}")

    def picture(self):
        """All that is known of tasks. Two pictures differ if anything was written between them."""
        tables = ("task", "task_key", "task_failed", "history", "settled", "enqueue_request")
        return [self.value("SELECT count(*) || ': ' ||"
                           " coalesce(string_agg(r::text, ' ' ORDER BY r::text), '')"
                           f" FROM skiplane.{table} r") for table in tables]

    def refuse_writes(self):
        """On whatever connection."""
        self.run(f"ALTER DATABASE {self.name} SET default_transaction_read_only = on")
        self.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE"
                 " datname = current_database() AND pid <> pg_backend_pid()")

    def take_writes(self):
        """On connections that are made from now on."""
        self.run(f"BEGIN READ WRITE; ALTER DATABASE {self.name}"
                 " RESET default_transaction_read_only; COMMIT")

    def hold(self, statement):
        """Runs a statement in a transaction that stays open until release()."""
        return Transaction(self.uri, statement)

    def hold_writes(self):
        """Whoever writes tasks waits until release(), longer than the broker waits for locks."""
        self.run("CREATE OR REPLACE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql"
                 " SET lock_timeout = '60 s' AS $$ BEGIN"
                 " PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;"
                 "CREATE OR REPLACE TRIGGER wait BEFORE INSERT OR UPDATE OR DELETE ON skiplane.task"
                 " FOR EACH STATEMENT EXECUTE FUNCTION public.wait()")
        return self.hold("SELECT pg_advisory_xact_lock(7)")

    def let_commits_wait(self, table):
        """From now on hold_commits() can hold back what inserts rows into this table."""
        self.run("CREATE OR REPLACE FUNCTION public.wait_in_commit() RETURNS trigger"
                 " LANGUAGE plpgsql SET lock_timeout = '60 s' AS $$ BEGIN"
                 " PERFORM pg_advisory_xact_lock_shared(hashtext(TG_TABLE_NAME));"
                 " RETURN NULL; END $$;"
                 f"CREATE CONSTRAINT TRIGGER wait_in_commit AFTER INSERT ON skiplane.{table}"
                 " DEFERRABLE INITIALLY DEFERRED"
                 " FOR EACH ROW EXECUTE FUNCTION public.wait_in_commit()")

    def hold_commits(self, table):
        """Everything but the commit is done of what inserts rows into this table, until
        release(), which is to come before the broker's statements end by themselves."""
        return self.hold(f"SELECT pg_advisory_xact_lock(hashtext('{table}'))")

    def drop(self):
        self._run("postgres", f"DROP DATABASE {self.name} WITH (FORCE)")

    def _run(self, database, sql):
        return run_sql(self._cluster.uri(database), sql)


# Values as PostgreSQL writes them, and null as nothing.
TEXT = extensions.new_type(tuple(extensions.string_types), "TEXT", lambda value, _: value or "")


def run_sql(uri, sql):
    """The rows of the last statement, as tuples of text. One transaction, on a connection of its
    own: within our process, for a client of its own takes more time than most statements."""
    connection = psycopg2.connect(uri)
    try:
        connection.autocommit = True
        extensions.register_type(TEXT, connection)
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return [] if cursor.description is None else cursor.fetchall()
    finally:
        connection.close()


class Transaction:
    """An open one, on a connection of its own."""

    def __init__(self, uri, statement):
        self._psql = Process(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", uri])
        self._psql.tell(f"BEGIN; {statement};")
        self._psql.tell("\\echo it holds")
        self._psql.wait_for_output("it holds")

    def release(self):
        self._psql.tell("COMMIT;")
        self._psql.tell("\\q")
        self._psql.wait()
        self._psql.end()
