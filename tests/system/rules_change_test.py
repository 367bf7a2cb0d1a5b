"""Rules that change while callers are at work, and what the log says of who is refused."""

import threading
import time
import unittest

from support.case import leases_begun, slow
from support.process import GENEROUS_S
from support.rules_case import OTHER, OWN, RulesTest


@slow
class Changes(RulesTest):
    TOKENS = ("worker", "reader")
    RULES = """
allow token:worker to enqueue, lease on own-*
allow token:reader to read on own-*
"""

    def test_a_withdrawn_worker_settles_what_it_holds_and_leases_no_more(self):
        for _ in range(2):
            self.put(OWN)
        lease = {"queues": [{"name": OWN}], "maxTasks": 2, "workerId": "w"}
        held = [{"leaseToken": task["leaseToken"]} for task in
                self.by_grpc("worker", "BrokerService/Lease", lease)["tasks"]]
        self.replace_rules("allow token:root to all on *\nallow token:worker to lease on none\n")
        self.assert_denied(self.both("worker", "BrokerService/Lease", **lease))
        renewed = self.both("worker", "BrokerService/Heartbeat", workerId="w", leases=held)
        self.assertTrue(renewed["sessionAlive"])
        [result] = self.by_grpc("worker", "BrokerService/Ack", {"items": held[:1]})["results"]
        self.assertEqual(result["outcome"], "SETTLE_OUTCOME_SETTLED")
        self.replace_rules("allow token:root to all on *\n")
        self.assert_denied(self.both("worker", "BrokerService/Ack", items=held[1:]))

    def replace_rules(self, text):
        seen = self.broker.output.count(" reloaded ")
        self.files.write("rules", text)
        self.broker.wait_for_output(" reloaded ", times=seen + 1)

    def test_the_log_says_that_strangers_are_refused(self):
        self.tokens["stranger"] = "skt_unknown"
        for _ in range(20):
            self.both("stranger", "AdminService/WhoAmI")
        self.broker.wait_for_output("warn callers_refused peer=")
        [line] = [line for line in self.broker.output.splitlines() if "callers_refused" in line]
        self.assertRegex(line, r"callers_refused peer=ipv4:127\.0\.0\.1:\d+ "
                               r"method=skiplane\.v1\.AdminService/WhoAmI "
                               r"reason=CREDENTIALS_INVALID$")

    def test_the_log_names_who_is_denied(self):
        self.assert_denied(self.both("reader", "AdminService/GetQueue", name=OTHER))
        self.broker.wait_for_output("warn callers_refused principal=token:reader "
                                    "method=skiplane.v1.AdminService/GetQueue "
                                    "reason=ACCESS_DENIED\n")

    def test_rules_count_at_once_when_their_file_changes(self):
        self.assert_denied(self.both("reader", "AdminService/GetQueue", name=OTHER))
        self.put(OTHER)
        self.files.write("rules", "allow token:reader to read on *\n")
        self.broker.wait_for_output("reloaded ")
        self.assertIn("queue", self.both("reader", "AdminService/GetQueue", name=OTHER))
        self.files.write("rules", "allow token:reader to fly on *\n")
        self.broker.wait_for_output("reload_failed")
        self.assertIn("line 1", self.broker.output)
        self.assertIn("queue", self.both("reader", "AdminService/GetQueue", name=OTHER))

    def test_who_waits_for_tasks_has_them_no_more_once_its_right_is_taken_away(self):
        self.put(OWN)
        lease = {"queues": [{"name": OWN}], "maxTasks": 1}
        self.assertIn("tasks", self.by_grpc("worker", "BrokerService/Lease", lease))
        waiting = []
        caller = threading.Thread(target=lambda: waiting.append(
            self.by_grpc("worker", "BrokerService/Lease", {**lease, "wait": "50s"})))
        caller.start()
        self.addCleanup(caller.join)
        end = time.monotonic() + GENEROUS_S
        while leases_begun(self.broker) < 2:
            self.assertLess(time.monotonic(), end)
        self.files.write("rules", "allow token:root to all on *\n")
        self.broker.wait_for_output("reloaded ")
        task = self.put(OWN)
        caller.join()
        self.assertNotIn("tasks", waiting[0])
        said = self.root("BrokerService/Lease", **lease)
        self.assertEqual([leased["taskId"] for leased in said["tasks"]], [task])


if __name__ == "__main__":
    unittest.main()
