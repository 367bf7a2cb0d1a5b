"""A worker that waits gets its task as soon as there is one, wherever that came from."""

import unittest

from support.case import SystemTest
from support.client import seconds

QUEUE = "wake"


class Wake(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def assert_woken(self, parked, payload=b"new"):
        self.assertEqual([task.payload for task in parked.result().tasks], [payload])

    def test_an_enqueue_wakes_a_parked_lease(self):
        parked = self.park(self.broker, self.client, QUEUE)
        self.client.enqueue(QUEUE, b"new")
        self.assert_woken(parked)

    def test_a_nack_without_delay_wakes_a_parked_lease(self):
        self.client.enqueue(QUEUE, b"again")
        [task] = self.client.lease(QUEUE)
        parked = self.park(self.broker, self.client, QUEUE)
        self.client.nack(task, retry_delay=seconds(0))
        self.assert_woken(parked, b"again")
        self.assertEqual(parked.result().tasks[0].attempt, 2)

    def test_a_release_wakes_a_parked_lease(self):
        self.client.enqueue(QUEUE, b"back")
        [task] = self.client.lease(QUEUE)
        parked = self.park(self.broker, self.client, QUEUE)
        self.client.nack(task, "RELEASE")
        self.assert_woken(parked, b"back")
        self.assertEqual(parked.result().tasks[0].attempt, 1)

    def test_the_end_of_a_delay_wakes_a_parked_lease(self):
        self.client.enqueue(QUEUE, b"new", delay=seconds(0.3))
        self.assert_woken(self.client.lease_later(QUEUE))
        self.assertEqual(
            self.database.value("SELECT lease_time >= schedule_time FROM skiplane.task"), "t")

    def test_the_end_of_a_retry_delay_wakes_a_parked_lease(self):
        self.client.enqueue(QUEUE, b"again")
        [task] = self.client.lease(QUEUE)
        parked = self.park(self.broker, self.client, QUEUE)
        self.client.nack(task, retry_delay=seconds(0.3))
        self.assert_woken(parked, b"again")

    def test_an_enqueue_at_the_other_broker_wakes_a_parked_lease_by_its_notification(self):
        other = self.client_of(self.start_broker())
        parked = self.park(self.broker, self.client, QUEUE)
        other.enqueue(QUEUE, b"new")
        self.assert_woken(parked)
        received = self.broker.metrics()['skiplane_db_notifications_total{direction="received"}']
        self.assertGreaterEqual(received, 1)

    def test_a_nack_at_the_other_broker_wakes_a_parked_lease(self):
        other = self.client_of(self.start_broker())
        self.client.enqueue(QUEUE, b"again")
        [task] = self.client.lease(QUEUE)
        parked = self.park(self.broker, self.client, QUEUE)
        other.nack(task, retry_delay=seconds(0))
        self.assert_woken(parked, b"again")

    def test_resuming_a_queue_wakes_a_parked_lease(self):
        self.client.pause(QUEUE)
        self.client.enqueue(QUEUE, b"kept")
        parked = self.park(self.broker, self.client, QUEUE)
        self.client.resume(QUEUE)
        self.assert_woken(parked, b"kept")

    def test_resuming_at_the_other_broker_wakes_a_parked_lease(self):
        other = self.client_of(self.start_broker())
        self.client.pause(QUEUE)
        self.client.enqueue(QUEUE, b"kept")
        parked = self.park(self.broker, self.client, QUEUE)
        other.resume(QUEUE)
        self.assert_woken(parked, b"kept")

    def test_what_a_dead_worker_held_wakes_a_parked_lease(self):
        self.client.enqueue(QUEUE, b"orphan")
        self.client.lease(QUEUE, worker_id="dead", duration=1)
        self.assert_woken(self.client.lease_later(QUEUE), b"orphan")

    def test_a_wait_without_tasks_ends_ok_and_empty(self):
        answer = self.client.lease_call(QUEUE, wait=0.2)
        self.assertEqual(list(answer.tasks), [])


if __name__ == "__main__":
    unittest.main()
