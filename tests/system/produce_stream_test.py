"""A producer on one stream: each enqueue is answered by its number, by its own outcome."""

import types
import unittest

import grpc

from support.case import SystemTest
from support.client import broker_pb2, broker_pb2_grpc, new_id, reason_of
from support.stream import Producer


def request(queue, *payloads, **fields):
    return broker_pb2.EnqueueRequest(
        queue=queue, tasks=[broker_pb2.NewTask(payload=payload) for payload in payloads], **fields)


class Produce(SystemTest):

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start("--auto-create-queues")

    def slow_client(self):
        """Little is on its way to it, however much it receives."""
        channel = grpc.insecure_channel(self.broker.address, (("grpc.http2.bdp_probe", 0),))
        self.addCleanup(channel.close)
        return types.SimpleNamespace(broker=broker_pb2_grpc.BrokerServiceStub(channel))

    def produce(self, client=None):
        producer = Producer(client or self.client)
        self.addCleanup(producer.break_off)
        return producer

    def test_each_is_answered_by_its_number(self):
        producer = self.produce()
        one, several = producer.enqueue(request("a", b"1"), request("b", b"2", b"3"))
        self.assertEqual(len(producer.answer(several).response.results), 2)
        [made] = producer.answer(one).response.results
        [task] = self.client.lease("a")
        self.assertEqual((task.task_id, task.payload), (made.task_id, b"1"))
        self.assertEqual([task.payload for task in self.client.lease("b", max_tasks=2)],
                         [b"2", b"3"])

    def test_one_that_is_refused_spares_the_others(self):
        producer = self.produce()
        bad, good, empty = producer.enqueue(request("a b", b"1"), request("a", b"2"), request("a"))
        refused = producer.answer(bad)
        self.assertEqual((refused.refusal.reason, refused.refusal.field, refused.refusal.code),
                         ("INVALID_FIELD", "queue", 3))
        self.assertEqual(producer.answer(empty).refusal.field, "tasks")
        self.assertEqual(len(producer.answer(good).response.results), 1)

    def test_one_stream_too_many_is_told_what_to_do(self):
        _, self.client = self.start("--max-waiting-calls-per-connection=1")
        first = self.produce()
        first.answer(*first.enqueue(request("a b", b"1")))  # it is there
        error = self.produce().refusal()
        self.assertEqual((error.code().name, reason_of(error)),
                         ("RESOURCE_EXHAUSTED", "TOO_MANY_WAITING_CALLS"))
        self.assertIn("1 calls and streams wait on this connection already", error.details())
        self.assertIn("one per worker or producer is enough", error.details())

    def test_a_repeat_on_another_stream_creates_nothing(self):
        once = request("a", b"1", request_id=new_id())
        first = self.produce()
        answer = first.answer(*first.enqueue(once)).response
        first.break_off()
        second = self.produce()
        again, other = second.enqueue(once, request("a", b"2", request_id=once.request_id))
        self.assertEqual(second.answer(again).response, answer)
        self.assertEqual(second.answer(other).refusal.reason, "REQUEST_ID_REUSED")
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), 1)

    def test_large_answers_come_in_messages_that_a_usual_client_receives(self):
        """Repeats are answered with as much as the first one, and cost the database little."""
        firsts = [request(queue, *[b""] * 1000, request_id=new_id()) for queue in "acde"]
        producer = self.produce(self.slow_client())
        for number in producer.enqueue(*firsts):
            producer.answer(number)
        numbers = producer.enqueue(*firsts * 125, request("b", b"x", request_id=new_id()))
        self.client.lease("b", wait=60)  # all that was sent before it is done, nothing is read
        largest = 0
        while len(producer.answers) < len(numbers):
            message = producer.next()
            largest = max(largest, message.ByteSize())
            producer.answers.update((result.number, result) for result in message.results)
        self.assertEqual([len(producer.answer(number).response.results) for number in numbers],
                         [1000] * 500 + [1])
        self.assertGreater(largest, 2 << 20)  # most of them waited together

    def test_when_it_sends_no_more_all_is_answered(self):
        producer = self.produce()
        numbers = producer.enqueue(*(request("a", b"x") for _ in range(1000)))
        producer.send_no_more()
        self.assertEqual({len(producer.answer(number).response.results) for number in numbers},
                         {1})
        with self.assertRaises(StopIteration):
            producer.next()


if __name__ == "__main__":
    unittest.main()
