"""What happens to the tasks of workers that die, hang or are slow."""

import signal
import time
import unittest

from support.case import SystemTest, slow
from support.client import state_name
from support.packs import ATTEMPTS, PACKING, TASKS, packed_count, put_packed
from support.process import GENEROUS_S

QUEUE, PACKED = "mortal", "packed"
MANY = [b"%d" % number for number in range(40)]  # payloads


class WorkerDeath(SystemTest):
    BEYOND = f"SELECT bool_and(now() > lease_time + interval '7 s') FROM {TASKS} WHERE state = 2"

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.client.create_queue(PACKED, **PACKING)

    def put_packed(self):
        return put_packed(self.database, self.client, PACKED, MANY)

    def lost_in_time(self):
        """Whether each lost attempt was lost after its lease time and not before."""
        return self.database.run(
            "SELECT bool_and(end_time >= lease_time + interval '1 s'), count(*)"
            f" FROM {ATTEMPTS} WHERE error_type = 'LEASE_LOST'")

    def test_the_task_of_a_killed_worker_is_done_by_another(self):
        task_id = self.client.enqueue(QUEUE, b"work")
        self.start_worker(self.broker, QUEUE, duration=1, heartbeat=0.2).kill()
        [task] = self.client.lease(QUEUE)
        self.assertEqual((task.task_id, task.payload, task.attempt), (task_id, b"work", 2))
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        self.assertEqual(self.client.state(task_id), "SUCCEEDED")
        self.assertEqual(
            self.database.run("SELECT attempt, outcome, error_type FROM skiplane.history "
                              "ORDER BY attempt"),
            [("1", "4", "LEASE_LOST"), ("2", "1", "")])

    @slow
    def test_the_tasks_of_many_killed_workers_are_all_done(self):
        for payload in MANY:
            self.client.enqueue(QUEUE, payload)
        self.put_packed()
        for worker in [self.start_worker(self.broker, queue, duration=600)
                       for queue in (QUEUE, PACKED) for _ in range(4)]:
            worker.kill()
        # Who leases one task leaves the rest of its pack in rows.
        self.assertEqual(packed_count(self.database), 1)
        self.database.expire_sessions()  # at once, and not while the next of them starts
        for queue in (QUEUE, PACKED):
            done = []
            while len(done) < 40:
                tasks = self.client.lease(queue, max_tasks=10, worker_id="survivor")
                self.assertEqual(set(self.client.ack(*tasks)), {"SETTLED"})
                done += tasks
            self.assertEqual(len({task.task_id for task in done}), 40)
            self.assertEqual(sorted(task.attempt for task in done), [1] * 36 + [2] * 4)
        self.assertEqual(self.database.number(f"SELECT count(*) FROM {TASKS}"), 0)

    def test_the_task_of_a_stopped_worker_goes_to_another_and_does_not_come_back(self):
        self.client.enqueue(QUEUE, b"work")
        worker = self.start_worker(self.broker, QUEUE, duration=1, heartbeat=0.2)
        worker.freeze()
        [task] = self.client.lease(QUEUE)
        worker.thaw()
        worker.wait_for_output("lost\n")  # its next heartbeat tells it
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    @slow
    def test_a_beating_worker_keeps_its_task_beyond_the_lease_time(self):
        self.client.enqueue(QUEUE, b"slow")
        self.put_packed()
        held = self.client.lease(QUEUE, worker_id="slow", duration=5)
        while len(held) < 41:
            held += self.client.lease(PACKED, max_tasks=40, worker_id="slow", duration=5)
        while self.database.value(self.BEYOND) == "f":
            self.assertTrue(self.client.heartbeat("slow", 5).session_alive)
            # Another worker asks all the time: it would get the tasks at once if they were free.
            for queue in (QUEUE, PACKED):
                self.assertEqual(self.client.lease(queue, wait=0.1, worker_id="other"), [])
        self.assertEqual(self.database.run(f"SELECT state, attempt, count(*) FROM {TASKS}"
                                           " GROUP BY 1, 2"), [("2", "1", "41")])
        self.assertEqual(set(self.client.ack(*held)), {"SETTLED"})

    @slow
    def test_a_lease_call_is_a_heartbeat_too(self):
        self.client.enqueue(QUEUE, b"slow")
        self.client.lease(QUEUE, worker_id="slow", duration=5)
        while self.database.value(self.BEYOND) == "f":
            self.assertEqual(self.client.lease(QUEUE, wait=0.2, worker_id="slow", duration=5), [])

    def test_a_silent_worker_loses_its_task_after_the_lease_time(self):
        self.client.enqueue(QUEUE, b"work")
        self.client.lease(QUEUE, worker_id="silent", duration=1)
        [task] = self.client.lease(QUEUE, worker_id="other")
        self.assertEqual(task.attempt, 2)
        self.assertEqual(self.lost_in_time(), [("t", "1")])
        end = time.monotonic() + GENEROUS_S
        while (lost := self.broker.metrics()["skiplane_sessions_lost_total"]) < 1:
            self.assertLess(time.monotonic(), end, "it is not counted")
        self.assertEqual(lost, 1)

    def test_a_caller_without_a_worker_id_loses_its_task_after_the_lease_time(self):
        self.client.enqueue(QUEUE, b"work")
        self.client.lease(QUEUE, duration=1)
        [task] = self.client.lease(QUEUE)
        self.assertEqual(task.attempt, 2)
        self.assertEqual(self.lost_in_time(), [("t", "1")])

    def test_a_lost_session_never_comes_back(self):
        self.client.enqueue(QUEUE, b"work")
        [late] = self.client.lease(QUEUE, worker_id="silent", duration=1)
        [task] = self.client.lease(QUEUE, worker_id="other")
        self.client.ack(task)
        self.assertFalse(self.client.heartbeat("silent", 30).session_alive)
        self.client.enqueue(QUEUE, b"next")
        [fresh] = self.client.lease(QUEUE, worker_id="silent")
        self.assertTrue(self.client.heartbeat("silent", 30, fresh).session_alive)
        self.assertEqual(self.client.ack(late, fresh), ["LEASE_LOST", "SETTLED"])

    def test_a_task_that_kills_every_worker_ends_as_failed(self):
        task_id = self.client.enqueue(QUEUE, b"poison", max_attempts=3)
        for _ in range(3):
            worker = self.start_worker(self.broker, QUEUE, duration=1)
            self.assertEqual(worker.kill(), -signal.SIGKILL)
        self.database.eventually("SELECT count(*) FROM skiplane.task_failed", "1")
        task = self.client.task(task_id)
        self.assertEqual((state_name(task.state), task.attempt_count, task.last_error.type),
                         ("FAILED", 3, "LEASE_LOST"))
        self.assertTrue(task.HasField("end_time"))
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 0)
        self.assertEqual(self.lost_in_time(), [("t", "3")])

    @slow
    def test_another_broker_reclaims_what_a_dead_worker_of_a_dead_broker_held(self):
        self.client.enqueue(QUEUE, b"work")
        [first, *rest] = self.put_packed()
        self.start_worker(self.broker, QUEUE, duration=1).kill()
        self.start_worker(self.broker, PACKED, duration=1).kill()
        other = self.client_of(self.start_broker())
        self.broker.kill()
        [task] = other.lease(QUEUE)
        self.assertEqual(task.attempt, 2)
        packed = []
        while len(packed) < 40:
            packed += other.lease(PACKED, max_tasks=40)
        self.assertEqual({task.task_id: task.attempt for task in packed},
                         {first: 2, **dict.fromkeys(rest, 1)})


if __name__ == "__main__":
    unittest.main()
