"""Somebody else has all connections that PostgreSQL allows."""

import unittest

from support.fault import BareConnection, FaultTest

CONNECTIONS = 20


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
            self.end_our_backends(self.taken[0])
            self.take_all()
        self.assert_unready()
        self.load.wait_for_refusal("UNAVAILABLE", 10)
        self.free()
        self.recover()


if __name__ == "__main__":
    unittest.main()
