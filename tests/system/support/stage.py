"""What a command that measures needs."""

import contextlib

from support import cluster, template
from support.broker import Broker
from support.client import Client
from support.database import Database


@contextlib.contextmanager
def stage(*flags, **options):
    """A broker, a client of it, and the database that they have to themselves."""
    shared = cluster.shared()
    database = Database(shared, template.made_in(shared))
    broker = Broker(f"--database={database.uri}", *flags, **options)
    client = Client(broker.address)
    try:
        yield broker, client, database
        broker.terminate()
    finally:
        client.close()
        broker.end()
        database.drop()
