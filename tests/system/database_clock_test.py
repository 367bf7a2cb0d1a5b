"""The database's clock goes back by an hour: what was due is due again, nobody who is silent lives
for an hour more, and it is told to operators."""

import time
import unittest

from support import faked_clock
from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, seconds
from support.database import Database
from support.faked_clock import FakedClock

QUEUE = "timely"
HOUR_S = 3600


@unittest.skipUnless(faked_clock.LIBRARY, faked_clock.WHY_NOT)
class ClockGoesBack(SystemTest):
    def setUp(self):
        clock = FakedClock(self)
        self.set_clock = clock.set
        self.database = Database(clock.cluster)

    def await_look(self):
        """A step is told from a look before it, which a slow leader has not had yet."""
        self.database.eventually("SELECT count(*) > 0 FROM skiplane.upkeep_lead"
                                 " WHERE reclaim_time > '-infinity'")

    def explain(self, client, task_id):
        request = admin_pb2.ExplainTaskRequest(task_id=task_id)
        return client.admin.ExplainTask(request, timeout=DEADLINE_S).explanation

    def test_what_was_due_is_due_again_and_the_step_is_told(self):
        broker, client = self.start()
        client.create_queue(QUEUE, lane_count=2)
        ready = [client.enqueue(QUEUE, priority=n % 2) for n in range(10)]
        later = client.enqueue(QUEUE, delay=seconds(60))
        periodic = client.enqueue(QUEUE, period=seconds(30))
        [first] = client.lease(QUEUE, worker_id="silent", duration=2)
        self.await_look()
        self.set_clock(-HOUR_S)
        broker.wait_for_output(" clock_went_back by=")
        broker.wait_for_output(" clock_mended ")
        self.assertRegex(broker.output, r"clock_went_back by=(1h|1h0m0|59m5)")
        steps = broker.metrics()
        self.assertEqual(steps["skiplane_db_clock_steps_total"], 1)
        self.assertAlmostEqual(steps["skiplane_db_clock_step_seconds_total"], HOUR_S, delta=60)
        # All of them: also what the silent worker held, whose session was to end in an hour.
        leased = set()
        end = time.monotonic() + DEADLINE_S
        while len(leased) < len(ready):
            self.assertLess(time.monotonic(), end)
            leased |= {task.task_id for task in client.lease(QUEUE, max_tasks=20)}
        self.assertNotIn(periodic, leased)  # its planned time does not come twice
        self.assertIn(first.task_id, leased)
        for _ in range(2):
            told = self.explain(client, later)
            self.assertRegex(told, "the database's clock went back by (1h|1h0m0|59m5)")
        self.assertEqual(client.state(later), "SCHEDULED")
        again = client.enqueue(QUEUE, b"after")
        self.assertEqual([task.task_id for task in client.lease(QUEUE)], [again])
        broker.terminate()
        self.assertEqual(broker.output.count(" clock_went_back "), 1)

    def test_several_brokers_note_one_step_once(self):
        many = [self.start_broker() for _ in range(2)]
        client = self.client_of(many[0])
        client.create_queue(QUEUE)
        task_id = client.enqueue(QUEUE)
        self.await_look()
        self.set_clock(-HOUR_S)
        self.assertEqual([task.task_id for task in client.lease(QUEUE)], [task_id])
        self.database.eventually("SELECT count(*) = 1 FROM skiplane.clock_step")
        told = 0
        for broker in many:
            self.assertEqual(broker.terminate(), 0)
            told += broker.output.count(" clock_went_back ")
        self.assertEqual(told, 1)

    def test_a_step_beside_the_end_of_the_leader_leaves_the_lead_to_others(self):
        leader = self.start_broker()
        self.await_look()
        leader.kill()
        self.set_clock(-HOUR_S)
        successor, client = self.start()
        client.create_queue(QUEUE)
        successor.wait_for_output(" clock_went_back by=")

    def test_a_clock_that_goes_forward_is_no_step_back(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        later = client.enqueue(QUEUE, delay=seconds(60))
        self.set_clock(HOUR_S)
        self.assertEqual([task.task_id for task in client.lease(QUEUE)], [later])
        self.assertEqual(broker.metrics()["skiplane_db_clock_steps_total"], 0)


if __name__ == "__main__":
    unittest.main()
