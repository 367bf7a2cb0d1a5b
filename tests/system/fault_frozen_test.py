"""Processes that are frozen and thawed: all of PostgreSQL, and a broker."""

import unittest

import grpc

from support import broker as probes
from support.broker import SERVING
from support.case import slow
from support.client import broker_pb2
from support.fault import FaultTest

QUEUE = "cold"
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
        frozen.freeze()
        request = broker_pb2.EnqueueRequest(queue=QUEUE, request_id="r",
                                            tasks=[broker_pb2.NewTask(payload=b"a")])
        with self.assertRaises(grpc.RpcError) as late:
            client.broker.Enqueue(request, timeout=PATIENCE_S)
        self.assertEqual(late.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        [made] = other.broker.Enqueue(request).results  # the other broker takes the repeat
        frozen.thaw()
        next(status for status in probes.watch(client.channel) if status == SERVING)
        [again] = client.broker.Enqueue(request).results
        self.assertEqual(again.task_id, made.task_id)
        [task] = client.lease(QUEUE)
        self.assertEqual((client.ack(task), client.lease(QUEUE, wait=0)), (["SETTLED"], []))


if __name__ == "__main__":
    unittest.main()
