"""Leases that wait by HTTP: they take no thread, and who leaves takes no task along."""

import os
import resource
import selectors
import unittest

from support.case import leases_begun, slow
from support.http import RawHttp, post
from support.http_case import HttpTest
from support.packs import TASKS
from support.process import GENEROUS_S

QUEUE = "waiting"
MANY = 300
CALLERS = 10000
CONNECTIONS_MAX = 9500
WAITING_MAX = 9000
DESCRIPTORS = 2 * CONNECTIONS_MAX + 500  # of a broker: its port of gRPC may have as many
TASKS_PER_CALL = 1000
CONNECTIONS = 'skiplane_connections{port="http"}'
TURNED_AWAY = 'skiplane_connections_refused_total{port="http"}'
WAITING = f'skiplane_queue_waiting_leases{{queue="{QUEUE}"}}'
LEASE = 'grpc_method="skiplane.v1.BrokerService/Lease"'


def lease_of(wait="60s", **fields):
    return {"queues": [{"name": QUEUE}], "maxTasks": 1, "wait": wait, **fields}


class Waiting(HttpTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE)

    def wait_by_http(self, count=1, **fields):
        """Leases that the broker has, each on a connection of its own."""
        before = leases_begun(self.broker)
        waiting = [self.raw() for _ in range(count)]
        for raw in waiting:
            raw.send(post("BrokerService/Lease", lease_of(**fields)))
        self.wait_until(lambda: leases_begun(self.broker) == before + count, "the broker has them")
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        return waiting

    def ended(self):
        return sum(count for name, count in self.broker.metrics().items()
                   if name.startswith("grpc_server_call_duration_seconds_count{")
                   and LEASE in name and "CANCELLED" in name)

    def assert_leased_uncharged(self):
        [task] = self.client.lease(QUEUE)
        self.assertEqual(task.attempt, 1)

    def threads(self):
        return len(os.listdir(f"/proc/{self.broker.pid}/task"))


class Leaving(Waiting):
    def assert_takes_no_task(self):
        self.wait_until(lambda: self.ended() == 1, "the lease has ended")
        self.client.enqueue(QUEUE)
        self.assert_leased_uncharged()

    def test_a_lease_whose_connection_is_closed_takes_no_task(self):
        [raw] = self.wait_by_http()
        raw.close()
        self.assert_takes_no_task()

    def test_a_lease_whose_connection_is_reset_takes_no_task(self):
        [raw] = self.wait_by_http()
        raw.reset()
        self.assert_takes_no_task()

    def test_who_ends_its_sending_side_has_left(self):
        [raw] = self.wait_by_http()
        raw.end_sending()
        self.assertEqual(raw.read_to_end(), b"")
        self.assert_takes_no_task()

    def test_who_ends_its_sending_side_and_goes_takes_no_task(self):
        [raw] = self.wait_by_http()
        raw.end_sending()
        raw.reset()
        self.assert_takes_no_task()

    def test_who_sends_too_much_ahead_is_cut_off(self):
        [raw] = self.wait_by_http()
        try:
            raw.send(b"garbage " * 8192)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was cut off in the middle
        self.assertEqual(raw.read_to_end(), b"")
        self.assert_takes_no_task()

    def assert_handed_none_in_mid_statement(self, leave):
        """Who leaves while its task is being leased gives it back."""
        self.client.enqueue(QUEUE)
        lock = self.database.hold("LOCK TABLE skiplane.task IN SHARE MODE")
        raw = self.raw()
        raw.send(post("BrokerService/Lease", lease_of()))
        self.database.wait_for_lock_wait()
        leave(raw)
        # The other end was noticed when the connection is no longer counted among those waiting.
        self.wait_until(lambda: self.broker.metrics()[CONNECTIONS] == 0, "it was noticed")
        lock.release()
        self.assert_leased_uncharged()
        self.assertEqual(self.broker.metrics()["skiplane_orphan_leases_handed_back_total"], 1)

    def test_who_leaves_in_mid_statement_is_handed_none(self):
        self.assert_handed_none_in_mid_statement(RawHttp.close)

    def test_who_ends_its_sending_side_in_mid_statement_is_handed_none(self):
        self.assert_handed_none_in_mid_statement(RawHttp.end_sending)

    def test_who_resets_its_connection_in_mid_statement_is_handed_none(self):
        self.assert_handed_none_in_mid_statement(RawHttp.reset)


class Answers(Waiting):
    def test_a_task_wakes_a_lease(self):
        [raw] = self.wait_by_http()
        self.client.enqueue(QUEUE, b"x")
        answer = raw.read_answer()
        self.assertEqual((answer.status, len(answer.json()["tasks"])), (200, 1))

    def test_a_lease_answers_before_its_deadline(self):
        raw = self.raw()
        raw.send(post("BrokerService/Lease", lease_of(), "Connect-Timeout-Ms: 2000"))
        answer = raw.read_answer()
        self.assertEqual((answer.status, answer.json().get("tasks", [])), (200, []))
        self.client.enqueue(QUEUE)
        self.assert_nothing_leased()

    def test_a_deadline_that_passes_in_mid_statement_is_told(self):
        self.client.enqueue(QUEUE)
        lock = self.database.hold("LOCK TABLE skiplane.task IN SHARE MODE")
        raw = self.raw()
        raw.send(post("BrokerService/Lease", lease_of(), "Connect-Timeout-Ms: 1000"))
        answer = raw.read_answer()
        self.assertEqual((answer.status, answer.code()), (504, "deadline_exceeded"))
        lock.release()
        self.assert_leased_uncharged()

    def test_a_drain_answers_those_who_wait(self):
        waiting = self.wait_by_http(3)
        idle = self.http_client()
        self.assertEqual(idle.request("GET", "/healthz").status, 200)
        self.assertEqual(self.broker.terminate(), 0, self.broker.output)
        for raw in waiting:
            answer = raw.read_answer()
            self.assertEqual((answer.status, answer.headers["Connection"]), (200, "close"))
            self.assertEqual(answer.json().get("tasks", []), [])
            self.assertEqual(raw.read_to_end(), b"")
        self.assertEqual(idle.connection.sock.recv(1), b"")


class Many(Waiting):
    def test_those_who_wait_take_no_threads_and_all_are_served(self):
        self.wait_by_http(1)
        threads = self.threads()
        memory = self.broker.rss()
        waiting = self.wait_by_http(MANY)
        self.assertLessEqual(self.threads(), threads + 4)  # gRPC's pool may have grown
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.rss() - memory, MANY * (100 << 10))
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * (MANY + 1))
        served = [raw.read_answer().json() for raw in waiting]
        self.assertEqual(sum(len(answer["tasks"]) for answer in served), MANY)


class TooMany(Waiting):
    flags = ("--max-waiting-calls=2",)

    def test_those_above_the_limit_are_told(self):
        self.wait_by_http(2)
        answer = self.http.call("BrokerService/Lease", lease_of())
        self.assertEqual((answer.status, answer.code(), answer.reason()),
                         (429, "resource_exhausted", "TOO_MANY_WAITING_CALLS"))


class OneAddress(Waiting):
    flags = ("--max-waiting-calls=10", "--address-share=80")

    def test_connections_from_one_address_do_not_take_all_places_to_wait(self):
        waiting = self.wait_by_http(8)
        answer = self.http.call("BrokerService/Lease", lease_of())
        self.assertEqual((answer.status, answer.reason()), (429, "TOO_MANY_WAITING_CALLS"))
        self.assertIn("--address-share", answer.json()["message"])
        elsewhere = self.raw("127.0.0.2")
        elsewhere.send(post("BrokerService/Lease", lease_of(workerId="elsewhere")))
        self.wait_until(lambda: self.broker.metrics().get(WAITING) == 9, "it waits")
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * 9)
        self.assertEqual([len(raw.read_answer().json()["tasks"]) for raw in [*waiting, elsewhere]],
                         [1] * 9)


class Callers:
    """Many at once, each on a connection of its own, with one call on its way."""

    def __init__(self, address, call):
        self._selector = selectors.DefaultSelector()
        self._all = []
        self.turned_away = 0
        for _ in range(CALLERS):
            try:
                self._add(RawHttp(address), call)
            except ConnectionError:
                self.turned_away += 1

    def _add(self, caller, call):
        self._all.append(caller)
        caller.send(call)
        self._selector.register(caller.socket, selectors.EVENT_READ, caller)

    def reset(self):
        self._selector.close()
        for caller in self._all:
            caller.reset()

    @property
    def waiting(self):
        return len(self._selector.get_map())

    def take_answers(self, bound_s=0):
        """Those that have come; waits for the first one."""
        answers = []
        for key, _ in self._selector.select(bound_s):
            self._selector.unregister(key.fileobj)
            try:
                answers.append(key.data.read_answer())
            except ConnectionError:
                self.turned_away += 1
        return answers


class TenThousand(Waiting):
    flags = (f"--max-connections={CONNECTIONS_MAX}", f"--max-waiting-calls={WAITING_MAX}",
             "--address-share=100")

    def setUp(self):
        usual = resource.getrlimit(resource.RLIMIT_NOFILE)
        if usual[1] < DESCRIPTORS:
            self.skipTest(f"needs {DESCRIPTORS} file descriptors, but ulimit -Hn is {usual[1]}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual[1], usual[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, usual)
        super().setUp()
        if self.broker.is_sanitized():
            self.skipTest("too slow for all of them to wait at the same time")

    def refusals(self, callers):
        """The answers to those who may not wait; all others wait, or were turned away."""
        answers = []

        def is_settled():
            answers.extend(callers.take_answers())
            return self.broker.metrics().get(WAITING, 0) == callers.waiting
        self.wait_until(is_settled, "each caller waits, or is told, or turned away")
        return answers

    def enqueue_for_all(self):
        """The ids."""
        tasks = [self.client.new_task()] * TASKS_PER_CALL
        return [made.task_id for _ in range(WAITING_MAX // TASKS_PER_CALL)
                for made in self.client.enqueue_all(QUEUE, tasks)]

    def take_tasks(self, callers):
        """What those who wait are served."""
        tasks = []
        while callers.waiting:
            answers = callers.take_answers(GENEROUS_S)
            self.assertGreater(len(answers), 0, f"{callers.waiting} are never served")
            tasks += [task for answer in answers for task in answer.json()["tasks"]]
        return tasks

    @slow
    def test_each_is_served_or_told_and_each_task_is_leased_once(self):
        callers = Callers(self.broker.http_address,
                          post("BrokerService/Lease", lease_of(leaseDuration="600s")))
        self.addCleanup(callers.reset)
        refusals = self.refusals(callers)
        self.assertEqual({(answer.status, answer.reason()) for answer in refusals},
                         {(429, "TOO_MANY_WAITING_CALLS")})
        self.assertEqual((callers.waiting, len(refusals), callers.turned_away),
                         (WAITING_MAX, CONNECTIONS_MAX - WAITING_MAX, CALLERS - CONNECTIONS_MAX))
        self.assertEqual(self.broker.metrics()[TURNED_AWAY], callers.turned_away)

        self.assertEqual(self.client.queue(QUEUE).name, QUEUE)
        ids = self.enqueue_for_all()
        tasks = self.take_tasks(callers)
        self.assertEqual(sorted(task["taskId"] for task in tasks), sorted(ids))
        self.assertEqual({task["attempt"] for task in tasks}, {1})
        self.assertEqual(callers.turned_away, CALLERS - CONNECTIONS_MAX)
        self.assertEqual(self.database.run(
            f"SELECT state, attempt, count(*) FROM {TASKS} GROUP BY 1, 2"),
            [("2", "1", str(WAITING_MAX))])


if __name__ == "__main__":
    unittest.main()
