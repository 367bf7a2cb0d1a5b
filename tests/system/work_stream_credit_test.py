"""A worker that takes credit back which it gave."""

import unittest

from work_stream_test import Streams


class Credit(Streams):

    def test_what_is_taken_back_pushes_nothing_more(self):
        worker = self.work(credit=5)
        worker.wait_for_welcome()
        self.assertEqual(worker.withdraw_credit(), 5)
        self.client.enqueue("q", b"x")
        [task] = self.client.lease("q")
        self.assertEqual((task.payload, task.attempt), (b"x", 1))
        self.assertTrue(worker.beat().response.session_alive)
        self.assertEqual(worker.tasks, [])

    def test_what_was_used_up_is_not_taken_back(self):
        worker = self.work(credit=3)
        self.client.enqueue("q", b"x")
        [task] = worker.take()
        self.assertEqual(worker.withdraw_credit(), 2)
        self.assertEqual(worker.withdraw_credit(), 0)
        self.assertEqual(worker.ack(task), ["SETTLED"])

    def test_credit_of_the_same_message_is_new(self):
        worker = self.work(credit=1000)
        worker.wait_for_welcome()
        self.assertEqual(worker.withdraw_credit(credit=1), 1000)
        for payload in (b"1", b"2"):
            self.client.enqueue("q", payload)
        self.assertEqual(self.payloads(worker, 1), [b"1"])
        [other] = self.client.lease("q")
        self.assertEqual(other.payload, b"2")
        self.assertEqual(worker.withdraw_credit(credit=1000), 0)

    def test_no_task_and_no_credit_gets_lost_while_tasks_come(self):
        """Each task uses up credit of before or of later; what is left of both is told."""
        worker, given, taken = self.work(credit=10), 10, 0
        worker.wait_for_welcome()
        for _ in range(30):
            self.client.enqueue("q", b"x")
            taken += worker.withdraw_credit(credit=10)
            given += 10
        taken += worker.withdraw_credit()
        self.assertEqual(given, taken + len(worker.tasks))
        self.assertEqual(worker.ack(*worker.tasks), ["SETTLED"] * len(worker.tasks))
        left = 30 - len(worker.tasks)
        while left > 0:
            left -= len(self.client.lease("q", max_tasks=30))
        self.assertEqual(left, 0)


if __name__ == "__main__":
    unittest.main()
