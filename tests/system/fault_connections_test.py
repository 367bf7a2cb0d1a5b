"""Somebody else has all connections that PostgreSQL allows."""

import unittest

from support.fault import OURS, BareConnection, FaultTest

CONNECTIONS = 20
MINE = "SELECT pg_terminate_backend(pid) FROM ({}) AS ours".format(OURS)


class ConnectionsFault(FaultTest):
    own_cluster = (f"max_connections = {CONNECTIONS}",)

    def setUp(self):
        super().setUp()
        self.begin()
        self.taken = []
        self.addCleanup(self.free)

    def free(self):
        for connection in self.taken:
            connection.close()
        self.taken.clear()

    def take_all(self):
        while True:
            try:
                self.taken.append(BareConnection(self.cluster, self.database))
            except OSError:
                return

    def test_all_connections_taken(self):
        self.take_all()
        while len(self.taken) < CONNECTIONS:
            self.taken[0].run(MINE.format(self.database.name))
            self.take_all()
        self.assert_unready()
        self.load.wait_for_refusal("UNAVAILABLE", 10)
        self.free()
        self.recover()


if __name__ == "__main__":
    unittest.main()
