"""Every method of the API by HTTP, in both forms of its messages: the same answers as by gRPC."""

import gzip
import json
import subprocess
import unittest

import grpc

from support.by_http import HttpApi
from support.client import (DEADLINE_S, admin_pb2, broker_pb2, bulk_pb2, is_stream, reason_of,
                            task_pb2)
from support.http import SERVICES
from support.http_case import HttpTest
from support.life import Life
from google.protobuf import json_format, symbol_database  # isort: skip  (after the client's)

QUEUE = "mail"


def methods():
    """Each method that is one call: the name of its service, and its description."""
    for file in (broker_pb2, admin_pb2):
        for service in file.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                if not is_stream(method):
                    yield service.name, method


def class_of(description):
    return symbol_database.Default().GetSymbol(description.full_name)


class EveryMethod(HttpTest):
    def call_by_grpc(self, service, method):
        """An empty request: (name of the code, reason, answer)."""
        call = self.client.channel.unary_unary(
            f"{SERVICES}{service}/{method.name}",
            response_deserializer=class_of(method.output_type).FromString)
        try:
            return "ok", "", call(b"", timeout=DEADLINE_S)
        except grpc.RpcError as error:
            return error.code().name.lower(), reason_of(error), None

    def assert_answers_alike(self, service, method, body):
        code, reason, answer = self.call_by_grpc(service, method)
        by_http = self.http.call(f"{service}/{method.name}", body)
        if code == "ok":
            self.assertEqual(by_http.status, 200, by_http.body)
            message = by_http.message(class_of(method.output_type))
            self.assertEqual({field.name for field, _ in message.ListFields()},
                             {field.name for field, _ in answer.ListFields()})
        else:
            self.assertEqual((by_http.code(), by_http.reason()), (code, reason), by_http.body)
            self.assertEqual(by_http.headers["trailer-skiplane-reason"], reason)
            self.assertNotEqual(by_http.status, 200)

    def test_an_empty_request_has_the_same_answer(self):
        self.client.create_queue(QUEUE)
        count = 0
        for service, method in methods():
            for body in ({}, class_of(method.input_type)()):
                with self.subTest(method=method.name, json=isinstance(body, dict)):
                    self.assert_answers_alike(service, method, body)
                    count += 1
        self.assertGreater(count, 50)

    def test_streams_are_not_to_be_had(self):
        for method in ("Work", "Produce"):
            answer = self.http.call(f"BrokerService/{method}", {})
            self.assertEqual((answer.status, answer.reason()), (404, "NOT_SUPPORTED"))
            self.assertIn("gRPC", answer.json()["message"])

    def test_it_is_counted_under_its_name(self):
        for service, method in methods():
            self.http.call(f"{service}/{method.name}", {})
        page = self.broker.metrics()
        for service, method in methods():
            name = f'grpc_server_call_started_total{{grpc_method="skiplane.v1.{service}/' \
                   f'{method.name}"}}'
            self.assertEqual(page[name], 1)


class SameValues(HttpTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE, max_payload_bytes=1 << 20)
        self.client.create_queue("other")
        self.ids = [self.client.enqueue(QUEUE, payload, priority=priority)
                    for payload, priority in ((b"", 0), (bytes(range(256)), 3), (b"last", 2))]
        [task] = self.client.lease(QUEUE, worker_id="w")
        self.client.ack(task)

    def assert_same(self, method, request):
        """By gRPC, and by HTTP in both forms of the request."""
        kind = type(getattr(self.client.admin, method)(request, timeout=DEADLINE_S))
        answers = [getattr(self.client.admin, method)(request, timeout=DEADLINE_S)]
        answers += [self.http.call(f"AdminService/{method}", body).message(kind)
                    for body in (request, json_format.MessageToDict(request))]
        self.assertTrue(answers[0].ListFields())
        for answer in answers[1:]:
            self.assertEqual(answer, answers[0])

    def test_what_is_read_is_the_same_by_gRPC_and_by_HTTP(self):
        full = task_pb2.TASK_VIEW_FULL
        self.assert_same("GetQueue", admin_pb2.GetQueueRequest(name=QUEUE))
        self.assert_same("ListQueues", admin_pb2.ListQueuesRequest())
        self.assert_same("ListTasks", admin_pb2.ListTasksRequest(
            filter=bulk_pb2.TaskFilter(queue=QUEUE), view=full))
        for task_id in self.ids:
            self.assert_same("GetTask", admin_pb2.GetTaskRequest(
                task_id=task_id, view=full, attempts_page_size=10))
        self.assert_same("ListAuditRecords", admin_pb2.ListAuditRecordsRequest())


class WholeLife(HttpTest):
    def test_of_a_queue(self):
        Life(HttpApi(self.broker.http_address)).live()


class Cycle(HttpTest):
    def curl(self, method, body, *flags):
        """What `curl` prints for a call, as JSON."""
        result = subprocess.run(
            ["curl", "--silent", "--show-error", "--fail-with-body", "--max-time",
             str(DEADLINE_S), "--header", "Content-Type: application/json", *flags, "--data",
             json.dumps(body), f"http://{self.broker.http_address}{SERVICES}{method}"],
            capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def test_curl_is_producer_and_worker(self):
        self.curl("AdminService/CreateQueue", {"name": QUEUE})
        made = self.curl("BrokerService/Enqueue",
                         {"queue": QUEUE, "tasks": [{"payload": "aGVsbG8="}]})
        lease = self.curl("BrokerService/Lease", {
            "queues": [{"name": QUEUE}], "maxTasks": 10, "workerId": "w", "wait": "30s"})
        [task] = lease["tasks"]
        self.assertEqual((task["taskId"], task["payload"], task["attempt"]),
                         (made["results"][0]["taskId"], "aGVsbG8=", 1))
        acked = self.curl("BrokerService/Ack", {"items": [{"leaseToken": task["leaseToken"]}]})
        self.assertEqual(acked["results"][0]["outcome"], "SETTLE_OUTCOME_SETTLED")

    def test_a_request_above_the_size_of_a_packet_arrives_whole(self):
        self.client.create_queue(QUEUE)
        payload = bytes(range(256)) * 4000
        request = broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[broker_pb2.NewTask(payload=payload)] * 3)
        self.assertEqual(self.http.call("BrokerService/Enqueue", request).status, 200)
        tasks = self.client.lease(QUEUE, max_tasks=3)
        self.assertTrue(tasks and all(task.payload == payload for task in tasks))
        answer = self.http.call("BrokerService/Lease", {
            "queues": [{"name": QUEUE}], "maxTasks": 3, "workerId": "w"})
        got = answer.message(broker_pb2.LeaseResponse).tasks
        self.assertEqual(len(tasks) + len(got), 3)
        self.assertTrue(all(task.payload == payload for task in got))

    def test_bodies_may_be_compressed(self):
        self.client.create_queue(QUEUE)
        body = json.dumps({"queue": QUEUE, "tasks": [{"payload": "QUFB" * 1000}]}).encode()
        answer = self.http.call("BrokerService/Enqueue", gzip.compress(body),
                                Content_Encoding="gzip", Accept_Encoding="gzip")
        self.assertEqual(answer.status, 200, answer.body)
        self.assertIsNone(answer.headers["Content-Encoding"])  # it is small
        lease = {"queues": [{"name": QUEUE}], "maxTasks": 1, "workerId": "w"}
        answer = self.http.call("BrokerService/Lease", lease, Accept_Encoding="gzip")
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        [task] = json.loads(gzip.decompress(answer.body))["tasks"]
        self.assertEqual(task["payload"], "QUFB" * 1000)

    def test_large_answers_are_as_they_are_for_who_takes_no_other(self):
        self.client.create_queue(QUEUE)
        for wish in ("", "br", "gzip;q=0"):
            self.client.enqueue(QUEUE, b"A" * 3000)
            answer = self.http.call("BrokerService/Lease", {
                "queues": [{"name": QUEUE}], "maxTasks": 1}, Accept_Encoding=wish)
            self.assertIsNone(answer.headers["Content-Encoding"])
            self.assertEqual(len(answer.json()["tasks"]), 1)

    def test_names_of_fields_may_be_those_of_the_proto_files(self):
        self.client.create_queue(QUEUE)
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * 3)
        answer = self.http.call("BrokerService/Lease", {"queues": [{"name": QUEUE}],
                                                        "max_tasks": 2, "worker_id": "w"})
        self.assertEqual((answer.status, len(answer.json()["tasks"])), (200, 2))

    def test_the_audit_has_who_called(self):
        self.http.call("AdminService/CreateQueue", {"name": "unnamed"})
        port = self.http.connection.sock.getsockname()[1]
        self.http.call("AdminService/CreateQueue", {"name": "named"}, Skiplane_Actor="ann")
        # What the HTTP port tells the services cannot be said by its callers, nor by gRPC's.
        forged = {"skiplane-caller-address": "ipv4:6.6.6.6:6", "skiplane-caller-name-bin": b"boss"}
        self.http.call("AdminService/CreateQueue", {"name": "forged"}, **forged)
        self.client.admin.CreateQueue(admin_pb2.CreateQueueRequest(name="forged2"),
                                      metadata=tuple(forged.items()), timeout=DEADLINE_S)
        rows = self.database.run("SELECT actor FROM skiplane.audit ORDER BY id")
        self.assertEqual([actor for actor, in rows[:3]],
                         [f"ipv4:127.0.0.1:{port}", "ann", f"ipv4:127.0.0.1:{port}"])
        self.assertRegex(rows[3][0], r"^ipv4:127\.0\.0\.1:\d+$")


if __name__ == "__main__":
    unittest.main()
