"""What is private stays out of the logs, whatever goes wrong."""

import base64
import unittest

import grpc

from support import broker as brokers
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, seconds, task_pb2
from support.cluster import Cluster
from support.http_case import HttpTest
from support.process import Process

QUEUE = "private"
CANARIES = ("canary_payload", "canary_key", "canary_header", "canary_value", "canary_type",
            "canary_text", "canary_print", "canary_password", "canary_message", "canary_worker")


class Secrets(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start_private()
        self.client.create_queue(QUEUE)

    def start_private(self):
        uri = self.database.uri.replace("skiplane@", "skiplane:canary_password@")
        private = brokers.Broker("--log-level=debug", env={"SKIPLANE_DATABASE": uri})
        self.addCleanup(private.end)
        return private, self.client_of(private)

    def task(self, **fields):
        return broker_pb2.NewTask(payload=b"canary_payload", key=fields.pop("key", "canary_key"),
                                  headers={"canary_header": "canary_value"}, **fields)

    def assert_silent(self, program):
        program.terminate()
        output = program.output
        self.assertGreater(len(output), 100)
        for canary in CANARIES:
            self.assertNotIn(canary, output)
            self.assertNotIn(canary.encode().hex(), output)

    def test_two_brokers_at_one_request_id_leave_it_out_of_the_databases_log(self):
        cluster = Cluster()
        self.addCleanup(cluster.end)
        clients = []
        for _ in range(2):
            broker = brokers.Broker(f"--database={cluster.uri('postgres')}")
            self.addCleanup(broker.end)
            clients.append(self.client_of(broker))
        clients[0].create_queue(QUEUE)
        for number in range(100):
            clients[0].enqueue(QUEUE)
            clients[0].enqueue(QUEUE)
            calls = [client.lease_later(QUEUE, worker_id="canary_worker", wait=5,
                                        request_id=f"canary_request_{number}")
                     for client in clients]
            for call in calls:
                call.result()
            if "lease_ledger_request" in cluster.log():
                break
        self.assertIn("lease_ledger_request", cluster.log(), "they never met")
        self.assertNotIn("canary", cluster.log())

    def refused(self, method, request):
        with self.assertRaises(grpc.RpcError) as refusal:
            method(request, timeout=DEADLINE_S)
        return refusal.exception

    def test_a_life_of_a_task_leaves_nothing_in_the_logs(self):
        self.client.enqueue_all(QUEUE, [self.task(max_attempts=2)])
        error = task_pb2.TaskError(type="canary_type", text=b"canary_text",
                                   fingerprint="canary_print")
        [task] = self.client.lease(QUEUE, worker_id="canary_worker")
        progress = task_pb2.TaskProgress(message="canary_message")
        self.client.heartbeat("canary_worker", 30, task, progress=progress)
        self.client.nack(task, error=error, retry_delay=seconds(0))
        self.client.nack(self.client.lease(QUEUE)[0], error=error)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task_failed"), 1)
        self.assertNotIn(task.lease_token.hex(), self.broker.output)
        self.assert_silent(self.broker)

    def test_refused_calls_leave_nothing_in_the_logs(self):
        self.refused(self.client.broker.Enqueue, broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[self.task(priority=99999)]))
        self.refused(self.client.broker.Enqueue, broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[self.task(key="canary_key\0")]))
        self.refused(self.client.broker.Ack, broker_pb2.AckRequest(
            items=[broker_pb2.AckItem(lease_token=b"canary_payload")]))
        self.assert_silent(self.broker)

    def test_errors_of_the_database_that_quote_rows_leave_nothing_in_the_logs(self):
        # The server's DETAIL shows the whole failing row.
        self.database.run("ALTER TABLE skiplane.task ADD CONSTRAINT forbidden"
                          " CHECK (priority <> 7 AND (error_type IS NULL OR state <> 1))")
        error = self.refused(self.client.broker.Enqueue, broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[self.task(priority=7)]))
        self.assertEqual(error.code(), grpc.StatusCode.INTERNAL)
        self.assertNotIn("canary", error.details())
        self.client.enqueue_all(QUEUE, [self.task()])
        [task] = self.client.lease(QUEUE)
        item = broker_pb2.NackItem(lease_token=task.lease_token, error=task_pb2.TaskError(
            type="canary_type", text=b"canary_text", fingerprint="canary_print"))
        error = self.refused(self.client.broker.Nack, broker_pb2.NackRequest(items=[item]))
        self.assertNotIn("canary", error.details())
        self.broker.wait_for_output("internal_error")  # it is logged, without the row
        self.assert_silent(self.broker)

    def test_a_broken_connection_leaves_nothing_in_the_logs(self):
        lock = self.database.hold_writes()
        call = self.client.broker.Enqueue.future(
            broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[self.task()]), timeout=DEADLINE_S)
        self.database.wait_for_lock_wait()
        self.database.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                          " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                          " AND state = 'active'")
        lock.release()
        self.assertIn(call.code(), (grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE,
                                    grpc.StatusCode.UNKNOWN))
        self.assert_silent(self.broker)

    def test_a_database_that_cannot_be_used_leaves_no_password_in_the_logs(self):
        for uri in ("postgresql://skiplane:canary_password@/canary?host=/nowhere",
                    self.database.uri.replace("skiplane@", "nobody:canary_password@"),
                    "postgresql://skiplane:canary_password@[:::/x",
                    "canary_password"):
            with self.subTest(uri):
                program = Process([brokers.program(), "--listen=127.0.0.1:0",
                                   "--metrics-listen=off", "--log-level=debug"],
                                  env={"SKIPLANE_DATABASE": uri})
                self.addCleanup(program.end)
                self.assertNotEqual(program.wait(), 0)
                self.assertNotIn("canary_password", program.output)


class Workers(HttpTest):
    """Who knows a worker_id repeats the worker's leases; who knows a session's id settles them."""

    def pages(self):
        """Every answer of a list of one worker per page, by gRPC and by HTTP."""
        for is_http in (False, True):
            token = ""
            while True:
                request = admin_pb2.ListWorkersRequest(page_size=1, page_token=token)
                if is_http:
                    answer = self.http.call("AdminService/ListWorkers", {
                        "pageSize": 1, "pageToken": token})
                    yield answer.body
                    token = answer.json().get("nextPageToken", "")
                else:
                    answer = self.client.admin.ListWorkers(request, timeout=DEADLINE_S)
                    yield answer.SerializeToString()
                    token = answer.next_page_token
                if not token:
                    break
                for part in token.split(".")[1:-1]:  # without version and checksum
                    yield base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))

    def test_no_list_of_workers_shows_their_ids_or_their_sessions(self):
        self.client.create_queue(QUEUE)
        for number in range(3):
            self.client.enqueue(QUEUE)
            self.client.lease(QUEUE, worker_id=f"canary_worker_{number}", worker_name="same")
        self.client.enqueue(QUEUE)
        self.client.lease(QUEUE)  # a session of one call
        sessions = [bytes.fromhex(row[0]) for row in self.database.run(
            "SELECT replace(id::text, '-', '') FROM skiplane.worker_session")]
        self.assertEqual(len(sessions), 4)
        pages = list(self.pages())
        self.assertGreater(len(pages), 2 * 4)
        for page in pages:
            self.assertNotIn(b"canary_worker", page)
            for session in sessions:
                self.assertNotIn(session, page)
                self.assertNotIn(session.hex().encode(), page.replace(b"-", b""))


if __name__ == "__main__":
    unittest.main()
