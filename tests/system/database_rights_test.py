"""A right that the broker's role lacks in the database is told as that: by callers' refusals, by
the command line, at the start. It is no outage, and granting it is all that has to be done."""

import subprocess
import unittest

from support import broker as brokers
from support.case import SystemTest
from support.cli import program
from support.client import DEADLINE_S, broker_pb2
from support.process import GENEROUS_S, Process

QUEUE = "guarded"
DENIED = ("FAILED_PRECONDITION", "DATABASE_PERMISSION_DENIED")


class DatabaseRights(SystemTest):
    is_migrated = False

    def setUp(self):
        super().setUp()
        self.role = "weak_" + self.database.name
        self.database.run(f"CREATE ROLE {self.role} LOGIN")
        self.addCleanup(self.drop_role)

    def drop_role(self):
        self.database.run(f"DROP OWNED BY {self.role}; DROP ROLE {self.role}")

    def start_as_role(self):
        """A broker on a schema that another role has migrated."""
        self.start_broker().terminate()
        self.database.run(f"GRANT skiplane_broker TO {self.role}")
        broker = brokers.Broker(f"--database={self.database.uri_as(self.role)}", "--no-migrate")
        self.addCleanup(broker.end)
        return broker, self.client_of(broker)

    def test_a_right_that_was_taken_away_while_the_broker_runs(self):
        broker, client = self.start_as_role()
        client.create_queue(QUEUE)
        client.enqueue(QUEUE, b"before")
        self.database.run("REVOKE INSERT ON skiplane.task FROM skiplane_broker")
        request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
        for _ in range(3):
            error = self.assert_refused(*DENIED, client.broker.Enqueue, request,
                                        timeout=DEADLINE_S)
            self.assertIn("permission denied for table task;", error.details())
            self.assertIn("GRANT skiplane_broker TO", error.details())
        done = subprocess.run([program(), "enqueue", QUEUE, "x", f"--broker={broker.address}"],
                              capture_output=True, timeout=GENEROUS_S, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(b"DATABASE_PERMISSION_DENIED", done.stderr)
        [task] = client.lease(QUEUE)
        self.assertEqual(client.ack(task), ["SETTLED"])
        errors = 'skiplane_db_errors_total{sqlstate_class="%s"}'
        self.assertGreaterEqual(broker.metrics()[errors % "42"], 4)
        self.assertNotIn(errors % "08", broker.metrics())
        self.database.run("GRANT INSERT ON skiplane.task TO skiplane_broker")
        client.enqueue(QUEUE, b"after")
        broker.terminate()
        self.assertRegex(broker.output, "statement_refused.*42501.*denied for table task")

    def assert_does_not_start(self, *words, flags=()):
        broker = Process([brokers.program(), "--listen=127.0.0.1:0",
                          "--metrics-listen=127.0.0.1:0",
                          f"--database={self.database.uri_as(self.role)}", *flags])
        self.addCleanup(broker.end)
        self.assertEqual(broker.wait(), 1, broker.output)
        for word in words:
            self.assertIn(word, broker.output)
        self.assertNotIn("may or may not", broker.output)

    def test_a_role_that_may_not_make_the_schema(self):
        self.assert_does_not_start(f"permission denied for database {self.database.name}",
                                   "GRANT CREATE ON DATABASE")

    def test_a_role_that_may_not_see_the_schema(self):
        self.start_broker().terminate()
        self.assert_does_not_start("permission denied for schema skiplane",
                                   "GRANT skiplane_broker TO", flags=["--no-migrate"])


class ReadOnly(SystemTest):
    def test_a_database_that_takes_no_writes_is_named_and_left_until_it_does(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        self.database.refuse_writes()
        with brokers.grpc.insecure_channel(broker.address) as channel:
            next(status for status in brokers.watch(channel) if status == brokers.NOT_SERVING)
        request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
        self.assert_refused("UNAVAILABLE", "DATABASE_READ_ONLY", client.broker.Enqueue, request,
                            timeout=DEADLINE_S)
        self.database.take_writes()
        with brokers.grpc.insecure_channel(broker.address) as channel:
            next(status for status in brokers.watch(channel) if status == brokers.SERVING)
        client.enqueue(QUEUE)


if __name__ == "__main__":
    unittest.main()
