"""The memory of the HTTP port is bounded: who does not read gives way to who does."""

import select
import unittest

from support.case import slow
from support.client import broker_pb2, seconds
from support.http import PROTO, SERVICES, RawHttp, post
from support.http_case import HttpTest

QUEUE = "large"
PAYLOAD_BYTES = 1000 << 10
TASKS = 3             # of one answer, which has 4 MiB as JSON
DEAF = 105            # their answers would take 420 MiB
RSS_MAX = 400 << 20   # 256 MiB are the limit
LEASE_BYTES = 256 << 10
LEASES = 1000         # 250 MiB
BODIES_MAX = 128 << 20
WAITING = f'skiplane_queue_waiting_leases{{queue="{QUEUE}"}}'
CUT_OFF = "slow_readers_cut_off"


def varint(number):
    """As protobuf writes it."""
    more = number >> 7
    return bytes([number & 127 | 128]) + varint(more) if more else bytes([number])


@slow
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


class WaitingBodies(HttpTest):
    """Leases that wait keep their message, however little of it they need."""

    def setUp(self):
        super().setUp()
        self.client.create_queue(QUEUE)
        lease = broker_pb2.LeaseRequest(queues=[broker_pb2.LeaseQueue(name=QUEUE)], max_tasks=1,
                                        wait=seconds(60)).SerializeToString()
        # A field that nobody knows fills the rest; protobuf keeps it.
        head = b"\xfa\xff\x07" + varint(LEASE_BYTES)
        self.request = (f"POST {SERVICES}BrokerService/Lease HTTP/1.1\r\nHost: localhost\r\n"
                        f"Content-Type: {PROTO}\r\n"
                        f"Content-Length: {len(lease) + len(head) + LEASE_BYTES}\r\n\r\n"
                        ).encode() + lease + head + b"x" * LEASE_BYTES

    def parked(self):
        # The page has a queue only once it was sampled or leased from.
        return self.broker.metrics().get(WAITING, 0)

    def is_answered(self, raw):
        return bool(select.select([raw.socket], [], [], 0)[0])

    def test_large_leases_that_wait_are_bounded_together(self):
        memory = self.broker.rss()
        waiting = []
        for _ in range(LEASES):
            waiting.append(self.raw())
            waiting[-1].send(self.request)
        self.wait_until(lambda: self.parked() + sum(map(self.is_answered, waiting)) == LEASES,
                        "each waits, or is refused")
        refused = list(filter(self.is_answered, waiting))
        self.assertGreaterEqual(len(refused), LEASES - BODIES_MAX // LEASE_BYTES)
        for raw in refused:
            answer = raw.read_answer()
            self.assertEqual((answer.status, answer.reason()), (429, "TOO_MANY_CALLS"))
        if not self.broker.is_sanitized():
            self.assertLess(self.broker.rss() - memory, RSS_MAX)
        # The others are served, and small ones have room beside them.
        self.assertEqual(self.http.call("AdminService/GetQueue", {"name": QUEUE}).status, 200)
        self.client.enqueue_all(QUEUE, [self.client.new_task()] * (LEASES - len(refused)))
        for raw in waiting:
            if raw not in refused:
                self.assertEqual(raw.read_answer().status, 200)


if __name__ == "__main__":
    unittest.main()
