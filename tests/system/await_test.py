"""GetTask with a wait answers when its task has ended, whoever ended it; or with the task as it is
when the time is over."""

import os
import signal
import time
import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import (DEADLINE_S, admin_pb2, queue_pb2, reason_of, retry_delay_of, seconds,
                            state_name, task_pb2)
from support.process import GENEROUS_S

QUEUE = "awaited"
AWAITING = "skiplane_awaiting_calls"
MANY = 300


class AwaitTest(SystemTest):
    flags = ()

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start(*self.flags)
        self.client.create_queue(QUEUE, keep_results=True)

    def wait_until(self, is_so, what):
        end = time.monotonic() + GENEROUS_S
        while not is_so():
            self.assertLess(time.monotonic(), end, what)

    def wait_for_awaiting(self, count, broker=None):
        self.wait_until(lambda: (broker or self.broker).metrics()[AWAITING] == count,
                        f"never {count} calls wait")

    @staticmethod
    def request(task_id="", wait=60, **fields):
        return admin_pb2.GetTaskRequest(task_id=task_id, wait=seconds(wait),
                                        view=task_pb2.TASK_VIEW_FULL, **fields)

    def call(self, task_id="", client=None, timeout=DEADLINE_S, **fields):
        """A GetTask on its way."""
        return (client or self.client).admin.GetTask.future(self.request(task_id, **fields),
                                                            timeout=timeout)

    def park(self, task_id="", client=None, broker=None, **fields):
        """A GetTask that waits."""
        before = (broker or self.broker).metrics()[AWAITING]
        call = self.call(task_id, client, **fields)
        self.wait_for_awaiting(before + 1, broker)
        return call

    def assert_ended(self, call, state):
        task = call.result().task
        self.assertEqual(state_name(task.state), state)
        self.assertTrue(task.HasField("end_time"))
        return task

    def assert_call_refused(self, call, code, reason):
        error = call.exception()
        self.assertEqual((error.code().name, reason_of(error)), (code, reason), error)
        return error


class Ends(AwaitTest):
    def setUp(self):
        super().setUp()
        self.id = self.client.enqueue(QUEUE, b"x", key="k")

    def lease(self):
        [task] = self.client.lease(QUEUE)
        return task

    def test_by_an_ack_with_its_result(self):
        call = self.park(self.id)
        self.client.ack_results(self.lease(), result=b"42")
        self.assertEqual(self.assert_ended(call, "SUCCEEDED").result, b"42")
        self.wait_for_awaiting(0)

    def test_of_the_task_that_holds_a_key(self):
        call = self.park(queue=QUEUE, key="k")
        self.client.ack(self.lease())
        task = self.assert_ended(call, "SUCCEEDED")
        self.assertEqual((task.task_id, task.key), (self.id, "k"))

    def test_by_a_failure_with_its_error(self):
        call = self.park(self.id)
        self.client.nack(self.lease(), "FAIL", error=task_pb2.TaskError(type="Boom"))
        self.assertEqual(self.assert_ended(call, "FAILED").last_error.type, "Boom")

    def test_not_by_a_retry_nor_a_release(self):
        call = self.park(self.id)
        self.client.nack(self.lease(), "RELEASE")
        self.client.nack(self.lease(), retry_delay=seconds(0))
        task = self.lease()
        self.assertFalse(call.done())
        self.client.ack(task)
        self.assert_ended(call, "SUCCEEDED")

    def test_by_a_cancel_of_a_waiting_task(self):
        call = self.park(self.id)
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=self.id),
                                     timeout=DEADLINE_S)
        self.assert_ended(call, "CANCELLED")

    def test_by_a_cancel_of_a_running_task(self):
        call = self.park(self.id)
        task = self.lease()
        self.client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=self.id),
                                     timeout=DEADLINE_S)
        self.client.nack(task)
        self.assert_ended(call, "CANCELLED")

    def test_by_a_bulk_operation(self):
        call = self.park(self.id)
        self.client.admin.StartBulkOperation(admin_pb2.StartBulkOperationRequest(
            filter={"queue": QUEUE, "all": True}, action={"cancel": {}}, wait=seconds(30)),
            timeout=DEADLINE_S)
        self.assert_ended(call, "CANCELLED")

    def test_of_a_task_whose_worker_was_lost_for_the_last_time(self):
        once = self.client.enqueue(QUEUE, key="once", priority=-1, max_attempts=1)
        call = self.park(once)
        [task] = self.client.lease(QUEUE, worker_id="w", duration=1)
        self.assertEqual(task.task_id, once)
        self.assertEqual(self.assert_ended(call, "FAILED").last_error.type, "LEASE_LOST")

    def test_a_task_that_is_deleted_is_not_found(self):
        call = self.park(self.id)
        self.client.admin.DeleteTask(admin_pb2.DeleteTaskRequest(task_id=self.id),
                                     timeout=DEADLINE_S)
        self.assert_call_refused(call, "NOT_FOUND", "TASK_NOT_FOUND")
        self.wait_for_awaiting(0)

    def test_all_who_wait_are_answered(self):
        calls = [self.park(self.id) for _ in range(5)]
        self.client.ack(self.lease())
        for call in calls:
            self.assert_ended(call, "SUCCEEDED")

    def test_a_task_that_has_ended_is_answered_at_once(self):
        self.client.ack(self.lease())
        self.assert_ended(self.call(self.id), "SUCCEEDED")
        self.assert_ended(self.call(queue=QUEUE, key="k"), "SUCCEEDED")

    def test_a_key_tells_the_end_where_no_history_is_kept(self):
        self.client.update_queue(QUEUE, "history", history=queue_pb2.HISTORY_POLICY_NONE)
        call = self.park(queue=QUEUE, key="k")
        self.client.ack(self.lease())
        self.assertEqual(self.assert_ended(call, "SUCCEEDED").task_id, self.id)
        self.assert_call_refused(self.call(self.id), "NOT_FOUND", "TASK_NOT_FOUND")

    def test_an_end_that_nobody_tells_of_is_found(self):
        call = self.park(self.id)
        self.database.run("DELETE FROM skiplane.task")
        self.assert_call_refused(call, "NOT_FOUND", "TASK_NOT_FOUND")


class OtherBroker(AwaitTest):
    def setUp(self):
        super().setUp()
        self.other = self.start_broker()
        self.elsewhere = self.client_of(self.other)

    def test_ends_the_task(self):
        calls = []
        for number in range(20):
            task_id = self.client.enqueue(QUEUE, key=f"k{number}")
            calls.append(self.park(task_id))
        for _ in calls:
            self.elsewhere.ack(*self.elsewhere.lease(QUEUE))
        for call in calls:
            self.assert_ended(call, "SUCCEEDED")

    def test_cancels_the_task(self):
        task_id = self.client.enqueue(QUEUE)
        call = self.park(task_id)
        self.elsewhere.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=task_id),
                                        timeout=DEADLINE_S)
        self.assert_ended(call, "CANCELLED")

    def test_ends_the_task_and_is_killed(self):
        task_id = self.client.enqueue(QUEUE)
        call = self.park(task_id)
        [task] = self.elsewhere.lease(QUEUE)
        self.elsewhere.ack(task)
        self.other.signal(signal.SIGKILL)
        self.assert_ended(call, "SUCCEEDED")


class TimeIsOver(AwaitTest):
    def test_the_answer_is_the_task_as_it_is(self):
        task_id = self.client.enqueue(QUEUE)
        self.client.lease(QUEUE)
        task = self.call(task_id, wait=1).result().task
        self.assertEqual(state_name(task.state), "LEASED")
        self.wait_for_awaiting(0)

    def test_the_answer_comes_before_the_deadline(self):
        task_id = self.client.enqueue(QUEUE)
        task = self.call(task_id, wait=60, timeout=4).result().task
        self.assertEqual(state_name(task.state), "READY")

    def test_no_ack_ends_a_periodic_task(self):
        self.client.update_queue(QUEUE, "periodic_history",
                                 periodic_history=queue_pb2.HISTORY_POLICY_ALL)
        task_id = self.client.enqueue(QUEUE, period=seconds(3600))
        call = self.park(task_id)
        [task] = self.client.lease(QUEUE)
        self.client.ack_results(task, result=b"7")
        other = self.park(self.client.enqueue(QUEUE, b"other"))
        self.client.ack(*self.client.lease(QUEUE))
        self.assert_ended(other, "SUCCEEDED")
        self.assertFalse(call.done())
        self.assertEqual(self.broker.terminate(), 0, self.broker.output)
        answer = call.result().task
        self.assertEqual((state_name(answer.state), answer.result), ("SCHEDULED", b"7"))

    def test_who_does_not_wait_is_answered_at_once(self):
        task_id = self.client.enqueue(QUEUE)
        self.assertEqual(state_name(self.call(task_id, wait=0).result().task.state), "READY")

    def test_a_call_that_is_cancelled_leaves_nothing(self):
        call = self.park(self.client.enqueue(QUEUE))
        call.cancel()
        self.wait_for_awaiting(0)
        [task] = self.client.lease(QUEUE)
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.assertNotIn("internal_error", self.broker.output)

    def test_a_drain_answers_with_the_task_as_it_is(self):
        task_id = self.client.enqueue(QUEUE)
        calls = [self.park(task_id) for _ in range(3)]
        self.assertEqual(self.broker.terminate(), 0, self.broker.output)
        for call in calls:
            self.assertEqual(state_name(call.result().task.state), "READY")


class Unknown(AwaitTest):
    def test_a_key_that_nobody_holds(self):
        self.assert_call_refused(self.call(queue=QUEUE, key="none"), "NOT_FOUND",
                                 "TASK_NOT_FOUND")

    def test_a_queue_that_does_not_exist(self):
        self.assert_call_refused(self.call(queue="none", key="k"), "NOT_FOUND",
                                 "QUEUE_NOT_FOUND")

    def test_a_key_of_another_queue(self):
        self.client.create_queue("another")
        self.client.enqueue("another", key="k")
        self.assert_call_refused(self.call(queue=QUEUE, key="k"), "NOT_FOUND", "TASK_NOT_FOUND")


class Many(AwaitTest):
    def threads(self):
        return len(os.listdir(f"/proc/{self.broker.pid}/task"))

    def runs(self, statement):
        return self.broker.metrics().get(
            f'skiplane_db_statement_seconds_count{{statement="{statement}"}}', 0)

    def wait_for_runs(self, statement, count):
        self.wait_until(lambda: self.runs(statement) >= count, f"never {count} of {statement}")

    def end_all(self):
        ended = 0
        while ended < MANY:
            ended += len(self.client.ack(*self.client.lease(QUEUE, max_tasks=MANY)))

    def test_those_who_wait_take_no_threads_and_read_their_tasks_once(self):
        tasks = [self.client.new_task()] * MANY
        ids = [made.task_id for made in self.client.enqueue_all(QUEUE, tasks)]
        first = self.park(ids[0])
        self.wait_for_runs("task_get", 1)
        threads = self.threads()
        calls = [self.call(task_id) for task_id in ids]
        self.wait_for_awaiting(MANY + 1)
        self.wait_for_runs("task_get", MANY + 1)
        self.assertLessEqual(self.threads(), threads + 4)  # gRPC's pool may have grown
        # One statement that looks for all of them has come and gone.
        self.wait_for_runs("task_known", self.runs("task_known") + 1)
        self.assertEqual(self.runs("task_get"), MANY + 1)

        self.end_all()
        for call in (first, *calls):
            self.assert_ended(call, "SUCCEEDED")
        self.wait_for_awaiting(0)


class TooMany(AwaitTest):
    flags = ("--max-waiting-calls=4",)

    def test_those_above_the_limit_are_told_and_those_who_do_not_wait_are_answered(self):
        task_id = self.client.enqueue(QUEUE)
        calls = [self.park(task_id), self.park(task_id)]
        error = self.assert_call_refused(self.call(task_id), "RESOURCE_EXHAUSTED",
                                         "TOO_MANY_WAITING_CALLS")
        self.assertIn("2 calls wait for the ends of tasks", error.details())
        self.assertGreater(retry_delay_of(error), 0)
        self.assertEqual(state_name(self.call(task_id, wait=0).result().task.state), "READY")
        [task] = self.client.lease(QUEUE, wait=0)
        self.client.ack(task)
        for call in calls:
            self.assert_ended(call, "SUCCEEDED")


class EndsByHttp(ByHttp, Ends):
    pass


class OtherBrokerByHttp(ByHttp, OtherBroker):
    pass


class TimeIsOverByHttp(ByHttp, TimeIsOver):
    pass


class UnknownByHttp(ByHttp, Unknown):
    pass


class ManyByHttp(ByHttp, Many):
    pass


class TooManyByHttp(ByHttp, TooMany):
    pass


if __name__ == "__main__":
    unittest.main()
