"""The answer to the commit of a settlement is lost. The broker finds out that it was committed, and
tells the caller's only call what it did, as if nothing had happened."""

import unittest

from support import cluster
from support.client import DEADLINE_S, broker_pb2, lease_request, new_id, queue_pb2, seconds
from support.client import state_name
from support.fault import FaultTest
from support.packs import ATTEMPTS, PACKING, TASKS, packed_count, put_packed

QUEUE = "settling"
THEN = "then"
MANY = 20


def outcome_name(kind, result):
    return kind.Name(result.outcome).rsplit("OUTCOME_")[1]


class LostSettlements(FaultTest):
    def setUp(self):
        super().setUp()
        self.broker, self.proxy = self.start_behind_proxy(cluster.shared())
        self.client = self.client_of(self.broker)

    def leased(self, **fields):
        self.client.enqueue(QUEUE, b"a", **fields)
        [task] = self.client.lease(QUEUE, worker_id="w")
        return task

    def ack(self, task, lost, **fields):
        """The answer to the only call, with the answer to `lost` lost."""
        self.proxy.swallow_next(lost)
        [result] = self.client.ack_results(task, **fields)
        self.proxy.wait_until_swallowed()
        return result

    def ack_in_transaction(self, request, settled_by="task_ack"):
        self.proxy.swallow_commit_after(settled_by)
        answer = self.client.broker.Ack(request, timeout=DEADLINE_S)
        self.proxy.wait_until_swallowed()
        return answer

    def nack(self, disposition, **fields):
        task = self.leased()
        self.proxy.swallow_next("task_settle")
        result = self.client.nack(task, disposition, **fields)
        self.proxy.wait_until_swallowed()
        self.assertEqual(outcome_name(broker_pb2.SettleOutcome, result), "SETTLED")
        again = self.client.nack(task, disposition, **fields)
        self.assertEqual(outcome_name(broker_pb2.SettleOutcome, again), "ALREADY_SETTLED")
        return result

    def assert_acked(self, result, state, stage=""):
        self.assertEqual((outcome_name(broker_pb2.SettleOutcome, result), state_name(result.state),
                          result.stage), ("SETTLED", state, stage))


class LostSettlement(LostSettlements):
    def run_time(self):
        return self.database.number(
            "SELECT (extract(epoch FROM schedule_time) * 1000000)::int8 FROM skiplane.task")

    def test_of_an_ack_that_ends_the_task(self):
        self.client.create_queue(QUEUE)
        task = self.leased()
        result = self.ack(task, "task_ack")
        self.assert_acked(result, "SUCCEEDED")
        self.assertFalse(result.HasField("schedule_time"))
        self.assertEqual(self.client.ack(task), ["ALREADY_SETTLED"])
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.history"), 1)

    def test_of_an_ack_that_moves_the_task_to_its_next_stage(self):
        self.client.create_queue(QUEUE, stages=[queue_pb2.Stage(name="one"),
                                                queue_pb2.Stage(name="two")])
        result = self.ack(self.leased(), "task_settle")
        self.assert_acked(result, "READY", "two")
        self.assertEqual(result.schedule_time.ToMicroseconds(), self.run_time())
        [task] = self.client.lease(QUEUE, stage="two")
        self.assertEqual(task.attempt, 1)

    def test_of_an_ack_whose_task_another_worker_waits_for(self):
        """It may be leased before the broker asks what became of it."""
        self.client.create_queue(QUEUE, stages=[queue_pb2.Stage(name="one"),
                                                queue_pb2.Stage(name="two")])
        other = self.client_of(self.start_broker())
        task = self.leased()
        parked = other.lease_later(QUEUE, stage="two")
        result = self.ack(task, "task_settle")
        self.assert_acked(result, "READY", "two")
        [next_task] = parked.result().tasks
        self.assertEqual(other.ack(next_task), ["SETTLED"])

    def test_of_an_ack_with_follow_ups(self):
        self.client.create_queue(QUEUE)
        self.client.create_queue(THEN)
        held = self.client.enqueue(THEN, key="held")
        follow_ups = [broker_pb2.NewTask(queue=THEN, key=key)
                      for key in ("", "new", "held")]
        item = broker_pb2.AckItem(lease_token=self.leased().lease_token, follow_ups=follow_ups)
        [result] = self.ack_in_transaction(broker_pb2.AckRequest(items=[item])).results
        self.assert_acked(result, "SUCCEEDED")
        outcomes = [outcome_name(broker_pb2.EnqueueOutcome, each) for each in result.follow_ups]
        self.assertEqual(outcomes, ["CREATED", "CREATED", "EXISTING"])
        ids = [each.task_id for each in result.follow_ups]
        self.assertEqual(ids[2], held)
        tasks = [self.client.lease(THEN)[0].task_id for _ in range(3)]
        self.assertCountEqual(tasks, ids)
        self.assertEqual(self.client.lease(THEN, wait=0), [])

    def test_of_an_ack_that_re_arms_a_periodic_task(self):
        self.client.create_queue(QUEUE)
        result = self.ack(self.leased(period=seconds(3600)), "task_settle")
        self.assert_acked(result, "SCHEDULED")
        self.assertEqual(result.schedule_time.ToMicroseconds(), self.run_time())

    def test_of_an_ack_with_the_next_lease(self):
        self.client.create_queue(QUEUE)
        _, second = [self.client.enqueue(QUEUE) for _ in range(2)]
        [first] = self.client.lease(QUEUE, worker_id="w")
        item = broker_pb2.AckItem(lease_token=first.lease_token)
        request = broker_pb2.AckRequest(items=[item], lease_next=lease_request(
            QUEUE, worker_id="w", wait=60, request_id=new_id()))
        answer = self.ack_in_transaction(request)
        self.assert_acked(answer.results[0], "SUCCEEDED")
        [task] = answer.lease.tasks
        self.assertEqual((task.task_id, task.attempt), (second, 1))
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def test_of_a_retry(self):
        self.client.create_queue(QUEUE)  # whose delay nobody but the broker knows
        result = self.nack("RETRY")
        self.assertEqual(state_name(result.state), "SCHEDULED")
        self.assertEqual(result.schedule_time.ToMicroseconds(), self.run_time())

    def test_of_a_release(self):
        self.client.create_queue(QUEUE)
        result = self.nack("RELEASE")
        self.assertEqual(state_name(result.state), "READY")
        self.assertEqual(result.schedule_time.ToMicroseconds(), self.run_time())

    def test_of_a_failure(self):
        self.client.create_queue(QUEUE)
        result = self.nack("FAIL")
        self.assertEqual(state_name(result.state), "FAILED")
        self.assertFalse(result.HasField("schedule_time"))
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task_failed"), 1)

    def test_what_another_call_settled_is_not_claimed(self):
        """The lost answer is that of a try that found nothing to settle."""
        self.client.create_queue(QUEUE)
        other = self.client_of(self.start_broker())
        task = self.leased()
        self.assertEqual(other.ack(task), ["SETTLED"])
        result = self.ack(task, "task_ack")
        self.assertEqual(outcome_name(broker_pb2.SettleOutcome, result), "ALREADY_SETTLED")


class LostSettlementOfPacks(LostSettlements):
    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE, **PACKING)
        self.client.create_queue(THEN)
        put_packed(self.database, self.client, QUEUE, [b"a"] * MANY)
        self.tasks = self.client.lease(QUEUE, worker_id="w", max_tasks=MANY)
        self.assertEqual(len(self.tasks), MANY)

    def leased(self):
        return self.tasks.pop()

    def assert_left(self, packed, rows=0):
        self.assertEqual(packed_count(self.database), packed)
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {TASKS}"), packed + rows)

    def test_of_an_ack_that_ends_some_of_a_pack_and_then_the_others(self):
        for part in (self.tasks[::3], self.tasks[1::3], self.tasks[2::3]):
            self.proxy.swallow_next("task_ack_packed")
            self.assertEqual(self.client.ack(*part), ["SETTLED"] * len(part))
            self.assertEqual(self.client.ack(*part), ["ALREADY_SETTLED"] * len(part))
        self.proxy.wait_until_swallowed(3)
        self.assert_left(0)
        self.assertEqual(self.database.run(f"SELECT count(*), count(DISTINCT task_id)"
                                           f" FROM {ATTEMPTS}"), [(str(MANY), str(MANY))])

    def test_of_an_ack_with_follow_ups(self):
        request = broker_pb2.AckRequest(items=[broker_pb2.AckItem(
            lease_token=task.lease_token, follow_ups=[broker_pb2.NewTask(queue=THEN)])
            for task in self.tasks])
        results = self.ack_in_transaction(request, "task_ack_packed").results
        for result in results:
            self.assert_acked(result, "SUCCEEDED")
        made = [each.task_id for result in results for each in result.follow_ups]
        self.assert_left(0, rows=MANY)
        self.assertCountEqual([task.task_id for task in self.client.lease(THEN, max_tasks=MANY)],
                              made)

    def test_of_an_ack_with_the_next_lease(self):
        put_packed(self.database, self.client, QUEUE, [b"b"] * MANY)
        items = [broker_pb2.AckItem(lease_token=task.lease_token) for task in self.tasks]
        answer = self.ack_in_transaction(broker_pb2.AckRequest(
            items=items, lease_next=lease_request(QUEUE, worker_id="w", wait=60, max_tasks=16,
                                                  request_id=new_id())), "task_ack_packed")
        for result in answer.results:
            self.assert_acked(result, "SUCCEEDED")
        self.assertEqual([(task.payload, task.attempt) for task in answer.lease.tasks],
                         [(b"b", 1)] * 16)
        self.assertEqual(self.client.ack(*answer.lease.tasks), ["SETTLED"] * 16)
        self.assert_left(MANY - 16)

    def test_of_a_retry_a_release_and_a_failure(self):
        for disposition, state in (("RETRY", "SCHEDULED"), ("RELEASE", "READY"),
                                   ("FAIL", "FAILED")):
            self.assertEqual(state_name(self.nack(disposition).state), state)
        self.assert_left(MANY - 3, rows=2)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task_failed"), 1)
        self.assertEqual(self.client.ack(*self.tasks), ["SETTLED"] * (MANY - 3))
        self.assert_left(0, rows=2)

    def test_what_another_call_settled_is_not_claimed(self):
        other = self.client_of(self.start_broker())
        task = self.leased()
        self.assertEqual(other.ack(task), ["SETTLED"])
        result = self.ack(task, "task_ack_packed")
        self.assertEqual(outcome_name(broker_pb2.SettleOutcome, result), "ALREADY_SETTLED")
        self.assert_left(MANY - 1)


if __name__ == "__main__":
    unittest.main()
