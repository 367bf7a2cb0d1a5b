"""What operators ask of workers: CommandWorker, and how workers hear of it."""

import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import admin_pb2, broker_pb2, task_pb2
from support.stream import Worker

QUEUE = "q"
STRANGER = "0123456789abcdef"


def name_of(command):
    return task_pb2.WorkerCommand.Name(command).removeprefix("WORKER_COMMAND_")


class Commanded(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start("--auto-create-queues")

    def workers(self, client=None):
        return list((client or self.client).admin.ListWorkers(
            admin_pb2.ListWorkersRequest(), timeout=60).workers)

    def ask(self, command, handle=None, client=None):
        """The worker as it is then; the only one unless its handle is given."""
        client = client or self.client
        [handle] = [handle] if handle else [one.worker_handle for one in self.workers(client)]
        return client.admin.CommandWorker(admin_pb2.CommandWorkerRequest(
            worker_handle=handle, command="WORKER_COMMAND_" + command), timeout=60).worker


class ByCalls(Commanded):
    def hold(self, worker="w", **fields):
        """A task in the worker's hands."""
        self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE, worker_id=worker, duration=600, **fields)
        return task

    def heard(self, *tasks, client=None, worker="w"):
        return name_of((client or self.client).heartbeat(worker, 600, *tasks).command)

    def test_what_a_worker_says_of_itself_is_told(self):
        self.hold(client_version="mailer/7", concurrency=4)
        [worker] = self.workers()
        self.assertEqual((worker.client_version, worker.concurrency, name_of(worker.command)),
                         ("mailer/7", 4, "RUN"))
        self.hold()
        [worker] = self.workers()
        self.assertEqual((worker.client_version, worker.concurrency), ("mailer/7", 4))

    def test_each_command_is_told_until_the_next_one(self):
        task = self.hold()
        self.assertEqual(self.heard(task), "UNSPECIFIED")
        for command in ("QUIET", "STOP"):
            asked = self.ask(command)
            self.assertEqual((name_of(asked.command), asked.leased_count), (command, 1))
            for _ in range(2):
                self.assertEqual(self.heard(task), command)
        self.ask("RUN")
        self.assertEqual(self.heard(task), "UNSPECIFIED")
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def test_a_lease_tells_it_too(self):
        self.hold()
        self.ask("QUIET")
        self.heard()
        answer = self.client.lease_call(QUEUE, worker_id="w", duration=600)
        self.assertEqual((len(answer.tasks), name_of(answer.command)), (0, "QUIET"))

    def test_a_command_outlives_its_broker_and_others_tell_it(self):
        task = self.hold()
        other = self.client_of(self.start_broker())
        self.ask("QUIET")
        self.assertEqual(self.heard(task, client=other), "QUIET")
        self.broker.kill()
        self.broker, self.client = self.start("--auto-create-queues")
        self.assertEqual(self.heard(task), "QUIET")
        self.ask("RUN", client=other)
        self.assertEqual(self.heard(task), "UNSPECIFIED")

    def test_only_that_worker_is_asked(self):
        self.hold("v", worker_name="v")
        self.hold("w", worker_name="w")
        [handle] = [one.worker_handle for one in self.workers() if one.name == "v"]
        self.ask("STOP", handle)
        self.assertEqual((self.heard(worker="v"), self.heard(worker="w")), ("STOP", "UNSPECIFIED"))

    def test_of_two_operators_at_once_the_later_one_is_obeyed(self):
        self.hold()
        other = self.client_of(self.start_broker())
        [worker] = self.workers()
        request = admin_pb2.CommandWorkerRequest(worker_handle=worker.worker_handle)
        calls = []
        for number in range(20):
            request.command = (task_pb2.WORKER_COMMAND_QUIET if number % 2
                               else task_pb2.WORKER_COMMAND_STOP)
            client = other if number % 2 else self.client
            calls.append(client.admin.CommandWorker.future(request, timeout=60))
        for call in calls:
            call.result()
        last = self.database.value(
            "SELECT request ->> 'command' FROM skiplane.audit"
            " WHERE method_name = 'CommandWorker' ORDER BY id DESC LIMIT 1")
        self.assertEqual("WORKER_COMMAND_" + self.heard(), last)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.audit"
                                              " WHERE method_name = 'CommandWorker'"), 20)
        self.ask("RUN")
        self.assertEqual(self.heard(), "UNSPECIFIED")

    def test_a_command_ends_with_the_session(self):
        self.hold()
        self.ask("QUIET")
        [worker] = self.workers()
        self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(worker_id="w", end_session=True),
                                     timeout=60)
        self.assert_unknown(worker.worker_handle)
        self.hold()
        self.assertEqual(self.heard(), "UNSPECIFIED")

    def assert_unknown(self, handle):
        error = self.assert_refused("NOT_FOUND", "WORKER_NOT_FOUND",
                                    lambda: self.ask("QUIET", handle))
        self.assertIn("worker_handle", error.details())

    def test_an_unknown_handle_is_refused(self):
        self.assert_unknown(STRANGER)

    def test_a_call_without_a_worker_cannot_be_asked(self):
        self.client.enqueue(QUEUE)
        self.client.lease(QUEUE, duration=600)
        [worker] = self.workers()
        self.assert_unknown(worker.worker_handle)

    def test_bad_requests_name_their_field(self):
        self.hold()
        [worker] = self.workers()
        for field, request in (
                ("worker_handle", {"command": "WORKER_COMMAND_RUN"}),
                ("worker_handle", {"worker_handle": "x" * 65, "command": "WORKER_COMMAND_RUN"}),
                ("command", {"worker_handle": worker.worker_handle})):
            error = self.assert_refused(
                "INVALID_ARGUMENT", "INVALID_FIELD", lambda given=request:
                self.client.admin.CommandWorker(admin_pb2.CommandWorkerRequest(**given),
                                                timeout=60))
            self.assertIn(field, error.details())

    def test_a_repeat_after_the_worker_has_gone_is_no_failure(self):
        self.hold()
        [worker] = self.workers()
        request = admin_pb2.CommandWorkerRequest(worker_handle=worker.worker_handle,
                                                 command="WORKER_COMMAND_STOP", request_id="once")
        self.client.admin.CommandWorker(request, timeout=60)
        self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(worker_id="w", end_session=True),
                                     timeout=60)
        again = self.client.admin.CommandWorker(request, timeout=60).worker
        self.assertEqual(again, type(again)(worker_handle=worker.worker_handle))

    def test_the_audit_tells_who_asked_for_what(self):
        self.hold()
        [worker] = self.workers()
        self.ask("QUIET")
        [record] = self.client.admin.ListAuditRecords(
            admin_pb2.ListAuditRecordsRequest(page_size=1), timeout=60).records
        self.assertEqual(record.method, "CommandWorker")
        self.assertIn(worker.worker_handle, record.request_json)
        self.assertIn("WORKER_COMMAND_QUIET", record.request_json)
        self.assertNotEqual(record.actor, "")


class ByCallsOfHttp(ByHttp, ByCalls):
    pass


class ByStream(Commanded):
    def work(self, **options):
        worker = Worker(self.client, QUEUE, **options)
        self.addCleanup(worker.break_off)
        worker.wait_for_welcome()
        return worker

    def heard(self, worker, *tasks):
        return name_of(worker.beat(*tasks).response.command)

    def test_a_quiet_worker_gets_nothing_and_keeps_its_tasks(self):
        worker = self.work(credit=1)
        self.client.enqueue(QUEUE, b"1")
        [held] = worker.take()
        handle = self.ask("QUIET").worker_handle
        self.assertEqual(self.heard(worker, held), "QUIET")
        worker.give_credit(5)
        self.client.enqueue(QUEUE, b"2")
        self.assertEqual(self.heard(worker, held), "QUIET")
        self.assertEqual(self.client.lease(QUEUE, worker_id="other")[0].payload, b"2")
        self.client.enqueue(QUEUE, b"3")
        self.assertEqual(worker.ack(held), ["SETTLED"])
        self.assertEqual(self.client.queue(QUEUE).counts.ready_count, 1)
        self.assertEqual(worker.tasks, [])
        self.ask("RUN", handle)
        self.assertEqual(self.heard(worker), "UNSPECIFIED")
        self.assertEqual(worker.take()[0].payload, b"3")

    def test_a_quiet_worker_gets_nothing_on_its_next_stream_either(self):
        worker = self.work()
        self.ask("QUIET")
        self.broker.kill()
        self.broker, self.client = self.start("--auto-create-queues")
        self.client.enqueue(QUEUE, b"1")
        again = self.work(worker_id=worker.worker_id, credit=1)
        self.assertEqual((self.heard(again), again.tasks), ("QUIET", []))
        self.assertEqual(again.withdraw_credit(), 1)
        self.assertEqual(self.client.lease(QUEUE, worker_id="other")[0].payload, b"1")

    def test_the_hello_says_version_and_concurrency(self):
        self.work(client_version="mailer/7", concurrency=4)
        [worker] = self.workers()
        self.assertEqual((worker.client_version, worker.concurrency), ("mailer/7", 4))


if __name__ == "__main__":
    unittest.main()
