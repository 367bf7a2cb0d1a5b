"""Processes that are frozen and thawed: all of PostgreSQL, and a broker."""

import unittest

import grpc

from support import broker as probes
from support.broker import SERVING
from support.case import slow
from support.client import broker_pb2
from support.fault import FaultTest
from support.packs import PACKING, packed_count, put_packed

QUEUE, PACKED = "cold", "packed"
MANY = 16
PATIENCE_S = 2


@slow
class FrozenPostgresql(FaultTest):
    own_cluster = ()

    def test_postgresql_frozen_under_load(self):
        self.begin(tolerated=["DEADLINE_EXCEEDED", "ABORTED"])
        self.cluster.freeze()
        self.assert_unready()
        self.load.wait_for_refusal("UNAVAILABLE", 5)
        self.cluster.thaw()
        self.recover()


class FrozenBroker(FaultTest):
    def test_a_frozen_broker_keeps_nobody_longer_than_the_deadline(self):
        frozen, client = self.start()
        other = self.client_of(self.start_broker())
        client.create_queue(QUEUE)
        client.create_queue(PACKED, **PACKING)
        put_packed(self.database, other, PACKED, [b"before"] * MANY)
        frozen.freeze()
        requests = [broker_pb2.EnqueueRequest(queue=queue, request_id="r",
                                              tasks=[broker_pb2.NewTask(payload=b"a")] * count)
                    for queue, count in ((QUEUE, 1), (PACKED, MANY))]
        for late in [client.broker.Enqueue.future(each, timeout=PATIENCE_S) for each in requests]:
            self.assertEqual(late.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        made = [other.broker.Enqueue(each) for each in requests]  # who takes the repeats
        self.assertEqual(packed_count(self.database), 2 * MANY)
        frozen.thaw()
        next(status for status in probes.watch(client.channel) if status == SERVING)
        again = [client.broker.Enqueue(each) for each in requests]
        self.assertEqual(again, made)
        for queue, count in ((QUEUE, 1), (PACKED, 2 * MANY)):
            tasks = client.lease(queue, max_tasks=count)
            self.assertEqual((client.ack(*tasks), client.lease(queue, wait=0)),
                             (["SETTLED"] * count, []))


if __name__ == "__main__":
    unittest.main()
