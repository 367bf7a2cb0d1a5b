"""The memory of the HTTP port is bounded: who does not read gives way to who does."""

import unittest

from support.client import broker_pb2
from support.http import RawHttp, post
from support.http_case import HttpTest

QUEUE = "large"
PAYLOAD_BYTES = 1000 << 10
TASKS = 3             # of one answer, which has 4 MiB as JSON
DEAF = 105            # their answers would take 420 MiB
RSS_MAX = 400 << 20   # 256 MiB are the limit
CUT_OFF = "slow_readers_cut_off"


class Memory(HttpTest):
    def setUp(self):
        super().setUp()
        if self.broker.is_sanitized():
            self.skipTest("too slow for 256 MiB of answers before the first caller that takes"
                          " nothing is cut off for that; ServerTest has smaller bounds")
        self.client.create_queue(QUEUE, max_payload_bytes=1 << 20)
        self.client.enqueue_all(QUEUE, [
            broker_pb2.NewTask(payload=b"x" * PAYLOAD_BYTES)] * TASKS)
        self.request = post("AdminService/ListTasks",
                            {"filter": {"queue": QUEUE}, "view": "TASK_VIEW_FULL"})

    def ask(self, raw):
        """Until the answer has begun to come."""
        self.addCleanup(raw.close)
        raw.send(self.request)
        self.assertEqual(raw.read(12), b"HTTP/1.1 200")
        return raw

    def test_those_who_do_not_read_give_way_to_those_who_do(self):
        deaf = []
        for _ in range(DEAF):
            deaf.append(self.ask(RawHttp(self.broker.http_address, is_narrow=True)))
            self.assertEqual(self.http.call("AdminService/GetQueue", {"name": QUEUE}).status, 200)
        self.broker.wait_for_output(CUT_OFF)
        self.assertLess(self.broker.peak_rss(), RSS_MAX)
        self.assertLess(len(deaf[0].read_to_end()), TASKS * PAYLOAD_BYTES)
        # Who came last is still sent its answer, and reads it now.
        last = self.ask(RawHttp(self.broker.http_address))
        self.assertIn(b"\r\n\r\n", last.read(1 << 20))


if __name__ == "__main__":
    unittest.main()
