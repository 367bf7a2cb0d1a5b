"""What a caller is told when the database refuses: the right code, a stable reason, when to come
again; never a word of SQL. Nothing is written, and the next good call works."""

import re
import unittest

from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, lease_request, retry_delay_of
from support.cluster import Cluster
from support.database import Database

QUEUE = "refusing"
CONFLICT = ("ABORTED", "TRANSACTION_CONFLICT")
DEFECT = ("INTERNAL", "INTERNAL_ERROR")
AWAY = ("UNAVAILABLE", "DATABASE_UNAVAILABLE")
DENIED = ("FAILED_PRECONDITION", "DATABASE_PERMISSION_DENIED")
REFUSALS = {"40001": CONFLICT, "40P01": CONFLICT, "55P03": CONFLICT,
            "57014": ("DEADLINE_EXCEEDED", "STATEMENT_TIMEOUT"),
            "53100": ("RESOURCE_EXHAUSTED", "DATABASE_FULL"),
            "08006": AWAY, "53300": AWAY,
            "42P05": ("FAILED_PRECONDITION", "POOLER_NOT_SUPPORTED"),
            "0A000": DEFECT, "42P01": DEFECT, "42883": DEFECT,
            "XX000": DEFECT, "22012": DEFECT, "P0001": DEFECT}
TRIGGER = """
CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'canary_message' USING ERRCODE = '{}', DETAIL = 'canary_detail';
END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON skiplane.task
FOR EACH STATEMENT EXECUTE FUNCTION public.refuse()"""


# As long as PostgreSQL takes to see one, or nearly.
DEADLOCK = """
CREATE FUNCTION public.deadlock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF nextval('public.statement') > 1 THEN RETURN NULL; END IF;
  PERFORM pg_sleep(0.7);
  RAISE EXCEPTION 'canary_message' USING ERRCODE = '40P01';
END $$;
CREATE TRIGGER deadlock AFTER INSERT OR UPDATE OR DELETE ON skiplane.task
FOR EACH ROW EXECUTE FUNCTION public.deadlock()"""


class BadDatabase(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def calls(self, held):
        """One of each call that writes tasks."""
        stub = self.client.broker
        ack = broker_pb2.AckItem(lease_token=held.lease_token)
        nack = broker_pb2.NackItem(lease_token=held.lease_token,
                                   disposition="NACK_DISPOSITION_RETRY")
        task = broker_pb2.NewTask(payload=b"canary_payload")
        keyed = broker_pb2.NewTask(key="canary_key")
        return [(stub.Enqueue, broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[task])),
                (stub.Enqueue, broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[keyed])),
                (stub.Lease, lease_request(QUEUE, worker_id="w")),
                (stub.Ack, broker_pb2.AckRequest(items=[ack])),
                (stub.Nack, broker_pb2.NackRequest(items=[nack]))]

    def test_each_kind_of_refusal_by_the_database(self):
        self.client.enqueue(QUEUE, b"held")
        [held] = self.client.lease(QUEUE, worker_id="w")
        self.client.enqueue(QUEUE, b"waiting")
        before = self.database.picture()
        for sqlstate, refusal in REFUSALS.items():
            self.database.run(TRIGGER.format(sqlstate))
            for method, request in self.calls(held):
                with self.subTest(sqlstate, request=type(request).__name__):
                    error = self.assert_refused(*refusal, method, request, timeout=DEADLINE_S)
                    self.assert_says_no_more_than_it_must(error)
            self.database.run("DROP TRIGGER refuse ON skiplane.task")
        self.assertEqual(self.database.picture(), before)
        [waiting] = self.client.lease(QUEUE, worker_id="w")
        self.assertEqual(waiting.payload, b"waiting")
        self.assertEqual(self.client.ack(held, waiting), ["SETTLED", "SETTLED"])

    def assert_says_no_more_than_it_must(self, error):
        text = error.details() + repr(error.trailing_metadata())
        for word in ("canary", "SELECT", "INSERT", "skiplane.task", "DETAIL"):
            self.assertNotIn(word, text)
        code = error.code().name
        self.assertEqual(retry_delay_of(error) > 0, code in ("RESOURCE_EXHAUSTED", "UNAVAILABLE"))
        if code == "INTERNAL":
            [error_id] = re.findall(r"\b[0-9a-f]{16}\b", error.details())
            self.broker.wait_for_output(error_id)

    def test_a_call_that_a_deadlock_broke_off_is_repeated_and_its_caller_does_not_hear_of_it(self):
        self.client.enqueue(QUEUE, b"first")
        self.client.enqueue(QUEUE, b"second")
        first, second = self.client.lease(QUEUE, worker_id="w", max_tasks=2)
        waiting = self.client.enqueue(QUEUE, b"waiting", priority=7)
        self.database.run("CREATE SEQUENCE public.statement;"
                          "GRANT ALL ON SEQUENCE public.statement TO PUBLIC;" + DEADLOCK)
        keyed = self.client.new_task(key="renewed", key_policy="KEY_POLICY_REPLACE_WAITING")
        calls = (lambda: self.client.enqueue(QUEUE, b"plain"),
                 lambda: self.client.enqueue_all(QUEUE, [keyed]),
                 lambda: self.client.ack(first),
                 lambda: self.client.nack(second),
                 lambda: self.client.admin.PrioritizeTask(
                     admin_pb2.PrioritizeTaskRequest(task_id=waiting, priority=3),
                     timeout=DEADLINE_S))
        for number, call in enumerate(calls):
            with self.subTest(number):
                self.database.run("ALTER SEQUENCE public.statement RESTART")
                call()
                self.assertGreater(self.database.number("SELECT last_value FROM public.statement"),
                                   1)

    def test_a_database_that_is_away(self):
        cluster = Cluster()
        self.database = Database(cluster)
        _, client = self.start()
        client.create_queue(QUEUE)
        cluster.end()
        request = broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()])
        error = self.assert_refused("UNAVAILABLE", "DATABASE_UNAVAILABLE", client.broker.Enqueue,
                                    request, timeout=DEADLINE_S)
        self.assertGreater(retry_delay_of(error), 0)


if __name__ == "__main__":
    unittest.main()
