"""A worker on one stream: what is pushed, settled and renewed there."""

import unittest

from support.case import SystemTest
from support.client import admin_pb2, broker_pb2, new_id, reason_of, seconds
from support.stream import Worker, ack_of, lease_states, nack_of, outcome_of, release_of


class Streams(SystemTest):

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start("--auto-create-queues")

    def work(self, *queues, client=None, **options):
        worker = Worker(client or self.client, *(queues or ("q",)), **options)
        self.addCleanup(worker.break_off)
        return worker

    def payloads(self, worker, count):
        return [task.payload for task in worker.take(count)]


class Work(Streams):

    def test_what_is_ready_is_pushed_while_credit_lasts(self):
        for payload in (b"1", b"2", b"3"):
            self.client.enqueue("q", payload)
        worker = self.work(credit=2)
        tasks = worker.take(2)
        self.assertEqual([task.payload for task in tasks], [b"1", b"2"])
        self.assertEqual([task.attempt for task in tasks], [1, 1])
        self.assertEqual(worker.ack(*tasks), ["SETTLED"] * 2)
        self.assertEqual(worker.tasks, [])
        worker.give_credit(1)
        self.assertEqual(self.payloads(worker, 1), [b"3"])

    def test_what_comes_later_is_pushed_when_it_comes(self):
        worker = self.work(credit=1)
        worker.wait_for_welcome()
        for payload in (b"1", b"2", b"3"):
            self.client.enqueue("q", payload)
            [task] = worker.take()
            self.assertEqual(task.payload, payload)
            self.assertEqual(worker.ack(task, credit=1), ["SETTLED"])

    def test_each_settlement_in_its_own_way_in_one_message(self):
        for payload in (b"ack", b"nack", b"fail", b"release"):
            self.client.enqueue("q", payload)
        worker = self.work(credit=4)
        ack, nack, fail, release = worker.take(4)
        numbers = worker.settle(
            ack_of(ack), nack_of(nack, retry_delay=seconds(60)),
            nack_of(fail, disposition="NACK_DISPOSITION_FAIL"), release_of(release))
        results = [worker.result(number) for number in numbers]
        self.assertEqual([outcome_of(result) for result in results], ["SETTLED"] * 4)
        self.assertEqual([self.client.state(task.task_id) for task in (ack, nack, fail, release)],
                         ["SUCCEEDED", "SCHEDULED", "FAILED", "READY"])
        [again] = self.work(credit=1).take()
        self.assertEqual((again.payload, again.attempt), (b"release", 1))

    def test_a_settlement_that_names_no_lease_spares_the_others(self):
        self.client.enqueue("q", b"x")
        worker = self.work(credit=1)
        [task] = worker.take()
        forged = broker_pb2.LeasedTask(
            lease_token=task.lease_token[:-1] + bytes([task.lease_token[-1] ^ 1]))
        numbers = worker.settle(ack_of(forged), broker_pb2.SettleItem(), ack_of(task))
        results = [worker.result(number) for number in numbers]
        self.assertEqual([outcome_of(result) for result in results],
                         ["INVALID_LEASE_TOKEN", "INVALID_FIELD", "SETTLED"])
        self.assertEqual([result.refusal.field for result in results],
                         ["item.ack.lease_token", "item.settlement", ""])
        self.assertEqual(results[0].refusal.code, 3)

    def test_a_worker_may_serve_one_stage(self):
        self.client.create_queue("staged", stages=[{"name": "a"}, {"name": "b"}])
        self.client.enqueue("staged", b"x")
        only_b = self.work(broker_pb2.LeaseQueue(name="staged", stage="b"), credit=1)
        only_b.wait_for_welcome()
        only_a = self.work(broker_pb2.LeaseQueue(name="staged", stage="a"), credit=1)
        [at_a] = only_a.take()
        self.assertEqual(only_a.ack(at_a), ["SETTLED"])
        [at_b] = only_b.take()
        self.assertEqual((at_b.task_id, at_b.stage), (at_a.task_id, "b"))

    def test_queues_are_drawn_by_weight(self):
        for queue in ("light", "heavy"):
            for _ in range(20):
                self.client.enqueue(queue, b"x")
        worker = self.work(broker_pb2.LeaseQueue(name="light", weight=1),
                           broker_pb2.LeaseQueue(name="heavy", weight=1000), credit=1)
        queues = []
        for _ in range(20):
            [task] = worker.take()
            queues.append(task.queue)
            worker.give_credit(1)
        self.assertGreater(queues.count("heavy"), 15)

    def test_a_beat_says_what_is_held_and_a_late_settlement_what_became_of_it(self):
        self.client.enqueue("q", b"x")
        worker = self.work(credit=1)
        [task] = worker.take()
        beat = worker.beat(task)
        self.assertTrue(beat.response.session_alive)
        self.assertEqual(lease_states(beat.response.results), ["HELD"])
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.assertEqual(worker.ack(task), ["ALREADY_SETTLED"])

    def test_when_the_worker_sends_no_more_all_is_answered(self):
        self.client.enqueue("q", b"x")
        worker = self.work(credit=1)
        [task] = worker.take()
        [number] = worker.settle(ack_of(task))
        worker.send_no_more()
        self.assertEqual(outcome_of(worker.result(number)), "SETTLED")
        with self.assertRaises(StopIteration):
            worker.read()

    def test_what_is_settled_by_calls_does_not_end_the_pushing(self):
        """As many as a stream keeps count of."""
        worker = self.work(credit=1000)
        for _ in range(10):
            self.client.enqueue_all("q", [self.client.new_task()] * 1000)
            self.client.ack(*worker.take(1000))
            worker.give_credit(1000)
        self.client.enqueue("q", b"more")
        worker.beat()
        self.assertEqual(worker.take()[0].payload, b"more")

    def test_ending_the_session_releases_what_is_held(self):
        self.client.enqueue("q", b"x")
        worker = self.work(credit=5)
        [task] = worker.take()
        self.assertFalse(worker.beat(task, end_session=True).response.session_alive)
        [again] = self.work(credit=1).take()
        self.assertEqual((again.task_id, again.attempt), (task.task_id, 1))

    def test_a_lost_session_ends_the_stream(self):
        worker = self.work(credit=1)
        worker.wait_for_welcome()
        self.client.heartbeat(worker.worker_id, 30)
        self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(
            worker_id=worker.worker_id, end_session=True))
        self.client.enqueue("q", b"x")
        self.assertEqual(reason_of(worker.refusal()), "SESSION_LOST")
        [task] = self.work(credit=1).take()
        self.assertEqual(task.attempt, 1)

    def test_a_second_stream_of_a_worker_replaces_the_first(self):
        first = self.work()
        first.wait_for_welcome()
        second = self.work(worker_id=first.worker_id, credit=1)
        self.assertEqual(reason_of(first.refusal()), "STREAM_REPLACED")
        self.client.enqueue("q", b"x")
        self.assertEqual(self.payloads(second, 1), [b"x"])


class Notices(Streams):

    def notices(self, worker, count):
        worker.read_until(lambda: len(worker.notices) >= count)
        return [(notice.task_id, *lease_states([notice])) for notice in worker.notices]

    @staticmethod
    def cancel(client, task):
        client.admin.CancelTask(admin_pb2.CancelTaskRequest(task_id=task.task_id))

    def test_a_cancelled_task_is_told_at_once_by_whichever_broker(self):
        for _ in range(3):
            self.client.enqueue("q", b"x")
        worker = self.work(credit=3, duration=3600)
        one, two, three = worker.take(3)
        self.cancel(self.client, one)
        self.assertEqual(self.notices(worker, 1), [(one.task_id, "CANCEL_REQUESTED")])
        self.database.eventually("SELECT count(*) FROM skiplane.broker", wanted="1")
        _, other = self.start()
        self.cancel(other, two)
        self.assertEqual(self.notices(worker, 2)[1:], [(two.task_id, "CANCEL_REQUESTED")])
        self.assertEqual(worker.ack(one, two, three), ["SETTLED"] * 3)

    def test_a_run_that_hangs_is_told_to_be_lost(self):
        self.client.create_queue("short", max_run_duration=seconds(1))
        self.client.enqueue("short", b"x")
        worker = self.work("short", credit=1, duration=3600)
        [task] = worker.take()
        self.assertEqual(self.notices(worker, 1), [(task.task_id, "LOST")])
        self.assertEqual(worker.ack(task), ["LEASE_LOST"])

    def test_a_notice_names_the_attempt_and_not_the_next_one_of_its_task(self):
        self.client.create_queue("short", max_run_duration=seconds(1))
        self.client.enqueue("short", b"x")
        worker = self.work("short", credit=2, duration=3600)
        [hanged] = worker.take()
        [again] = worker.take()
        self.assertEqual((again.task_id, again.attempt), (hanged.task_id, 2))
        self.notices(worker, 2)
        self.assertEqual([notice.lease_token for notice in worker.notices],
                         [hanged.lease_token, again.lease_token])

    def test_a_notice_names_a_lease_of_a_hello_as_the_hello_does(self):
        self.client.enqueue("q", b"x")
        worker_id = new_id()
        [task] = self.client.lease("q", worker_id=worker_id, duration=3600)
        worker = self.work(worker_id=worker_id, held=[task], duration=3600)
        worker.wait_for_welcome()
        self.cancel(self.client, task)
        self.notices(worker, 1)
        self.assertEqual(worker.notices[0].lease_token, task.lease_token)

    def test_what_a_hello_names_is_told_too(self):
        self.client.enqueue("q", b"x")
        first = self.work(credit=1, duration=3600)
        [task] = first.take()
        first.break_off()
        second = self.work(worker_id=first.worker_id, held=[task], duration=3600)
        second.wait_for_welcome()
        self.cancel(self.client, task)
        self.assertEqual(self.notices(second, 1), [(task.task_id, "CANCEL_REQUESTED")])


class Hello(Streams):

    def test_what_it_names_is_held_and_the_rest_is_given_back(self):
        ids = [self.client.enqueue("q", payload) for payload in (b"1", b"2", b"3")]
        first = self.work(credit=3)
        known, settled, unknown = first.take(3)
        self.assertEqual(first.ack(settled), ["SETTLED"])
        first.break_off()
        second = self.work(worker_id=first.worker_id, held=[known, settled], credit=3)
        self.assertEqual(lease_states(second.wait_for_welcome().leases), ["HELD", "LOST"])
        [again] = second.take()
        self.assertEqual((again.task_id, again.attempt), (unknown.task_id, 1))
        self.assertEqual(second.ack(known, again), ["SETTLED"] * 2)
        self.assertEqual(second.ack(unknown), ["LEASE_LOST"])
        self.assertEqual({self.client.state(task) for task in ids}, {"SUCCEEDED"})

    def test_it_names_leases_of_calls_too(self):
        self.client.enqueue("q", b"x")
        worker_id = new_id()
        [task] = self.client.lease("q", worker_id=worker_id, duration=30)
        worker = self.work(worker_id=worker_id, held=[task])
        self.assertEqual(lease_states(worker.wait_for_welcome().leases), ["HELD"])
        self.assertEqual(worker.ack(task), ["SETTLED"])


if __name__ == "__main__":
    unittest.main()
