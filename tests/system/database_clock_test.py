"""The database's clock goes back by an hour: what was due is due again, nobody who is silent lives
for an hour more, and it is told to operators."""

import glob
import os
import tempfile
import time
import unittest

from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, seconds
from support.cluster import Cluster, give_away
from support.database import Database

QUEUE = "timely"
LIBRARY = "/usr/lib/*/faketime/libfaketime.so.1"
HOUR_S = 3600


@unittest.skipUnless(glob.glob(LIBRARY), "the Debian package faketime is not installed")
class ClockGoesBack(SystemTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="skiplane-clock-")
        self.addCleanup(folder.cleanup)
        give_away(folder.name)
        os.chmod(folder.name, 0o755)
        self._file = os.path.join(folder.name, "offset")
        self.set_clock(0)
        cluster = Cluster(env=[f"LD_PRELOAD={glob.glob(LIBRARY)[0]}", "FAKETIME_NO_CACHE=1",
                               f"FAKETIME_TIMESTAMP_FILE={self._file}",
                               "FAKETIME_DONT_FAKE_MONOTONIC=1"])
        self.addCleanup(self.end, cluster)
        self.database = Database(cluster)

    @staticmethod
    def end(cluster):
        cluster.end()
        for left in glob.glob(f"/dev/shm/*faketime_*_{cluster.pid}"):
            os.unlink(left)

    def set_clock(self, offset_s):
        """Of the database; from now on."""
        with open(self._file + ".new", "w", encoding="ascii") as file:
            file.write(f"{offset_s:+d}\n")
        os.chmod(self._file + ".new", 0o644)
        os.rename(self._file + ".new", self._file)

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
