"""The examples of streams outlive their brokers: nothing is lost, and nothing is done twice."""

import itertools
import os
import re
import sys
import time
import unittest
from concurrent import futures

import grpc

from support import document, stubs
from support.broker import listen_where_nobody_is_put
from support.case import SystemTest, slow
from support.client import DEADLINE_S, admin_pb2, broker_pb2
from support.packs import TASKS
from support.process import GENEROUS_S, Process

sys.path.append(os.path.join(stubs.ROOT, "tests", "proto"))
from tool_chain import ToolChain  # noqa: E402  pylint: disable=wrong-import-position

MANY = 1000
BEFORE_THE_KILL = 100
OLD_AFTER = 50  # messages
LONG = "sleep 6"  # it runs while the broker is away, and longer than a lost lease is kept


class Front(grpc.GenericRpcHandler):
    """Before a broker: its streams end as those of a broker do that are a quarter of an hour old.
    `is_old`: whether that comes before this message of the caller."""

    def __init__(self, broker, is_old):
        self.is_old = is_old
        self.broker = grpc.insecure_channel(broker.address)
        self.server = grpc.server(futures.ThreadPoolExecutor(), handlers=[self])
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def end(self):
        self.server.stop(None).wait()
        self.broker.close()

    def service(self, handler_call_details):
        method = handler_call_details.method
        response = getattr(broker_pb2, method.rpartition("/")[2] + "Response")

        def play(requests, _context):
            yield from self.broker.stream_stream(method)(self.passed_on(requests))
            yield response(draining=True).SerializeToString()
        return grpc.stream_stream_rpc_method_handler(play)

    def passed_on(self, requests):
        for request in requests:
            if self.is_old(request):
                return
            yield request


class Streams(SystemTest):
    """The ground of the tests below."""

    def setUp(self):
        super().setUp()
        with listen_where_nobody_is_put() as taken:  # the port stays free
            self.address = f"127.0.0.1:{taken.getsockname()[1]}"
        self.broker = self.start_broker(listen=self.address)
        self.client = self.client_of(self.broker)
        self.client.create_queue("mail")

    def run_program(self, argv, **options):
        program = Process(argv, **options)
        self.addCleanup(program.end)
        return program

    def fill(self):
        payloads = [LONG.encode(), *(b"no. %d." % number for number in range(MANY))]
        for part in (payloads[:1], payloads[1:]):
            self.client.enqueue_all("mail", [self.client.new_task(payload) for payload in part])

    def front(self, is_old):
        front = Front(self.broker, is_old)
        self.addCleanup(front.end)
        return front.address

    def old_and_old_again(self):
        numbers = itertools.count(1)
        return self.front(lambda _: next(numbers) % OLD_AFTER == 0)

    def old_before_the_end(self):
        ends = []

        def is_old(request):
            if broker_pb2.WorkRequest.FromString(request).heartbeat.end_session:
                ends.append(request)
                return len(ends) == 1
            return False
        return self.front(is_old)

    def kill(self):
        """It is there again at once."""
        self.broker.kill()
        self.broker = self.start_broker(listen=self.address)
        self.client = self.client_of(self.broker)

    def assert_each_once(self, output, pattern):
        numbers = [int(number) for number in re.findall(pattern, output)]
        self.assertEqual(sorted(numbers), list(range(MANY)))

    def assert_outlives_the_broker(self, worker):
        worker.wait_for_output("no. ", times=BEFORE_THE_KILL)
        self.kill()
        worker.wait_for_output("no. ", times=MANY)
        self.assertEqual(worker.terminate(), 0, worker.output)
        self.assertEqual(self.client.queue("mail").counts.succeeded_count, 1 + MANY)
        self.assert_all_once(worker)

    def assert_goes_elsewhere(self, worker):
        """Its broker stays away."""
        worker.wait_for_output("no. ", times=BEFORE_THE_KILL)
        self.broker.kill()
        worker.wait_for_output("no. ", times=MANY)
        self.assertEqual(worker.terminate(), 0, worker.output)
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {TASKS}"), 0)
        self.assert_all_once(worker)

    def assert_outlives_old_streams(self, worker):
        worker.wait_for_output("no. ", times=MANY)
        self.assertEqual(worker.terminate(), 0, worker.output)
        self.assertEqual(self.client.queue("mail").counts.succeeded_count, 1 + MANY)
        self.assertGreater(worker.output.count("stream ended: it was old"), 1)
        self.assert_all_once(worker)

    def assert_ends_what_runs(self, worker):
        worker.wait_for_output("no. ", times=BEFORE_THE_KILL)
        self.assertEqual(worker.terminate(), 0, worker.output)
        self.assertEqual(self.client.queue("mail").counts.succeeded_count,
                         1 + worker.output.count("no. "))
        self.assert_nothing_leased()
        self.assert_left()

    def assert_obeys_operators(self, worker):
        worker.wait_for_output("no. ", times=MANY)
        self.ask("QUIET")
        self.wait_for_credit(lambda credit: credit == 0)
        self.client.enqueue("mail", b"late")
        self.assertNotIn("late", worker.output)
        self.ask("RUN")
        worker.wait_for_output("late")
        self.wait_for_credit(lambda credit: credit > 0)
        self.ask("STOP")
        self.assertEqual(worker.wait(), 0, worker.output)
        self.assertEqual(self.client.queue("mail").counts.succeeded_count, 2 + MANY)
        self.assert_left()

    def ask(self, command):
        [worker] = self.client.admin.ListWorkers(admin_pb2.ListWorkersRequest(),
                                                 timeout=DEADLINE_S).workers
        self.assertRegex(worker.client_version, "^example-")
        self.assertGreater(worker.concurrency, 0)
        self.client.admin.CommandWorker(admin_pb2.CommandWorkerRequest(
            worker_handle=worker.worker_handle, command="WORKER_COMMAND_" + command),
            timeout=DEADLINE_S)

    def wait_for_credit(self, is_so):
        end = time.monotonic() + GENEROUS_S
        while not is_so(credit := self.broker.metrics()["skiplane_stream_credit"]):
            self.assertLess(time.monotonic(), end, f"the credit is {credit}")

    def assert_all_once(self, worker):
        self.assertIn("stream ended", worker.output)
        self.assertEqual(worker.output.count(LONG), 1)
        self.assert_each_once(worker.output, r"no\. (\d+)\.")
        self.assert_left()

    def assert_left(self):
        self.assertEqual(
            self.database.number("SELECT count(*) FROM skiplane.worker_session WHERE state = 1"), 0)


@slow
class Python(Streams):
    def work(self, *addresses):
        self.fill()
        program = os.path.join(stubs.ROOT, "client", "examples", "python", "stream_worker.py")
        return self.run_program([sys.executable, "-B", program, *addresses],
                                env={"PYTHONPATH": stubs.FOLDER})

    def test_a_worker_outlives_its_broker(self):
        self.assert_outlives_the_broker(self.work(self.address))

    @slow
    def test_a_worker_outlives_old_streams(self):
        self.assert_outlives_old_streams(self.work(self.old_and_old_again()))

    @slow
    def test_a_worker_that_stops_on_an_old_stream_ends_its_session(self):
        self.assert_ends_what_runs(self.work(self.old_before_the_end()))

    def test_a_worker_goes_on_at_another_broker(self):
        self.assert_goes_elsewhere(self.work(self.address, self.start_broker().address))

    def test_a_worker_that_stops_ends_what_runs(self):
        self.assert_ends_what_runs(self.work(self.address))

    @slow
    def test_a_worker_obeys_operators(self):
        self.assert_obeys_operators(self.work(self.address))


class Go(ToolChain, Streams):
    """It is built by the README's lines, and called as there."""

    def setUp(self):
        super().setUp()
        self.folder = self.generate_go().path("user")

    def go(self, line, *addresses):
        line = document.commands("README.md", "Go", 2).splitlines()[line]
        line = line.replace("seq 1000", f"seq -f 'no. %.0f.' 0 {MANY - 1}")
        line = line.replace("127.0.0.1:7070", " ".join(addresses))
        return self.run_program(["bash", "-c", line], directory=self.folder)

    def work(self, *addresses):
        self.fill()
        return self.go(1, *addresses)

    @slow
    def test_a_worker_outlives_its_broker(self):
        self.assert_outlives_the_broker(self.work(self.address))

    @slow
    def test_a_worker_outlives_old_streams(self):
        self.assert_outlives_old_streams(self.work(self.old_and_old_again()))

    @slow
    def test_a_worker_that_stops_on_an_old_stream_ends_its_session(self):
        self.assert_ends_what_runs(self.work(self.old_before_the_end()))

    @slow
    def test_a_worker_goes_on_at_another_broker(self):
        self.assert_goes_elsewhere(self.work(self.address, self.start_broker().address))

    @slow
    def test_a_worker_that_stops_ends_what_runs(self):
        self.assert_ends_what_runs(self.work(self.address))

    @slow
    def test_a_worker_obeys_operators(self):
        self.assert_obeys_operators(self.work(self.address))

    @slow
    def test_a_producer_outlives_its_broker(self):
        producer = self.go(0, self.address)
        producer.wait_for_output("is committed", times=BEFORE_THE_KILL)
        self.kill()
        self.assertEqual(producer.wait(), 0, producer.output)
        self.assert_each_once(producer.output, r"is committed: no\. (\d+)\.")
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {TASKS}"), MANY)

    @slow
    def test_a_producer_outlives_old_streams(self):
        producer = self.go(0, self.old_and_old_again())
        self.assertEqual(producer.wait(), 0, producer.output)
        self.assertGreater(producer.output.count("stream ended: it was old"), 1)
        self.assert_each_once(producer.output, r"is committed: no\. (\d+)\.")
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {TASKS}"), MANY)


if __name__ == "__main__":
    unittest.main()
