"""What a worker or a producer may not send on a stream: a clear refusal, and others go on."""

import unittest

from support.case import SystemTest
from support.client import broker_pb2, fields_of, new_id, reason_of
from support.stream import Producer, Stream, Worker, ack_of, nack_of, release_of

INVALID = ("INVALID_ARGUMENT", "INVALID_FIELD")


class BadInput(SystemTest):

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue("q")

    def tearDown(self):
        self.client.enqueue("q", b"others go on")
        [task] = self.client.lease("q")
        self.assertEqual(self.client.ack(task), ["SETTLED"])
        super().tearDown()

    def work(self, *queues, **options):
        worker = Worker(self.client, *(queues or ("q",)), **options)
        self.addCleanup(worker.break_off)
        return worker

    def assert_ends(self, stream, code, reason, field=""):
        error = stream.refusal()
        self.assertEqual((error.code().name, reason_of(error)), (code, reason), error)
        self.assertEqual("".join(fields_of(error)[:1]), field)
        self.assert_plain_metadata(error)
        return error

    def test_a_first_message_without_a_hello(self):
        stream = Stream(self.client.broker.Work)
        stream.send(broker_pb2.WorkRequest(credit=1))
        self.assert_ends(stream, *INVALID, "hello")

    def test_a_second_hello(self):
        worker = self.work()
        worker.send(broker_pb2.WorkRequest(hello=broker_pb2.WorkHello(
            worker_id=new_id(), queues=[broker_pb2.LeaseQueue(name="q")])))
        self.assert_ends(worker, *INVALID, "hello")

    def test_a_hello_that_says_nothing(self):
        for hello, field in (
                (broker_pb2.WorkHello(worker_id="w"), "hello.queues"),
                (broker_pb2.WorkHello(queues=[broker_pb2.LeaseQueue(name="q")]),
                 "hello.worker_id"),
                (broker_pb2.WorkHello(worker_id="w", queues=[broker_pb2.LeaseQueue(name="a b")]),
                 "hello.queues[0].name")):
            stream = Stream(self.client.broker.Work)
            stream.send(broker_pb2.WorkRequest(hello=hello))
            self.assert_ends(stream, *INVALID, field)

    def test_a_queue_or_a_stage_that_is_not_there(self):
        self.assert_ends(self.work("nowhere"), "NOT_FOUND", "QUEUE_NOT_FOUND",
                         "hello.queues[0].name")
        self.assert_ends(self.work(broker_pb2.LeaseQueue(name="q", stage="x")), *INVALID,
                         "hello.queues[0].stage")

    def test_a_lease_that_is_none(self):
        held = broker_pb2.LeasedTask(lease_token=b"forged")
        self.assert_ends(self.work(held=[held]), "INVALID_ARGUMENT", "INVALID_LEASE_TOKEN",
                         "hello.leases[0].lease_token")

    def test_credit_that_is_none_or_too_much(self):
        for credits in ((-1,), (10 ** 9,), (1000, 1)):
            worker = self.work()
            for credit in credits:
                worker.give_credit(credit)
            self.assert_ends(worker, *INVALID, "credit")

    def test_numbers_that_do_not_grow(self):
        for numbers in ((0,), (-1,), (2, 1), (1, 1)):
            worker = self.work()
            worker.send(broker_pb2.WorkRequest(settlements=[
                broker_pb2.WorkSettlement(number=number) for number in numbers]))
            self.assert_ends(worker, *INVALID, f"settlements[{len(numbers) - 1}].number")
            producer = Producer(self.client)
            producer.send(broker_pb2.ProduceRequest(enqueues=[
                broker_pb2.ProduceEnqueue(number=number) for number in numbers]))
            self.assert_ends(producer, *INVALID, f"enqueues[{len(numbers) - 1}].number")
        worker = self.work()
        worker.send(broker_pb2.WorkRequest(heartbeat=broker_pb2.WorkHeartbeat()))
        self.assert_ends(worker, *INVALID, "heartbeat.number")

    def test_too_many_in_one_message(self):
        worker = self.work()
        worker.send(broker_pb2.WorkRequest(settlements=[
            broker_pb2.WorkSettlement(number=number) for number in range(1, 1002)]))
        self.assert_ends(worker, *INVALID, "settlements")
        producer = Producer(self.client)
        producer.send(broker_pb2.ProduceRequest(enqueues=[
            broker_pb2.ProduceEnqueue(number=number) for number in range(1, 1002)]))
        self.assert_ends(producer, *INVALID, "enqueues")

    def test_messages_above_the_limit(self):
        request = broker_pb2.EnqueueRequest(
            queue="q", tasks=[broker_pb2.NewTask(payload=bytes(1 << 20))] * 4)
        producer = Producer(self.client)
        producer.enqueue(request, request)
        self.assert_ends(producer, "INVALID_ARGUMENT", "REQUEST_TOO_LARGE")

    def test_bytes_that_are_no_message(self):
        for method in ("Work", "Produce"):
            call = self.client.channel.stream_stream(f"/skiplane.v1.BrokerService/{method}")
            stream = Stream(call)
            stream.send(b"\x0a\xff")
            self.assert_ends(stream, *INVALID)

    def test_streams_that_say_nothing_end_with_ok(self):
        for method in (self.client.broker.Work, self.client.broker.Produce):
            stream = Stream(method)
            stream.send_no_more()
            self.assertEqual(list(stream.call), [])

    def test_a_heartbeat_with_a_forged_lease_is_refused_alone(self):
        self.client.enqueue("q", b"x")
        worker = self.work(credit=1)
        [task] = worker.take()
        refusal = worker.beat(broker_pb2.LeasedTask(lease_token=b"forged")).refusal
        self.assertEqual((refusal.reason, refusal.field),
                         ("INVALID_LEASE_TOKEN", "heartbeat.leases[0].lease_token"))
        self.assertEqual(worker.ack(task), ["SETTLED"])

    def test_what_asks_for_the_impossible_is_refused_alone(self):
        for _ in range(3):
            self.client.enqueue("q", b"x")
        worker = self.work(credit=3)
        one, two, three = worker.take(3)
        numbers = worker.settle(ack_of(one, next_stage="nowhere"),
                                nack_of(two, disposition="NACK_DISPOSITION_FAIL"),
                                release_of(three))
        refused = worker.result(numbers[0]).result
        self.assertEqual((refused.refusal.reason, refused.refusal.field),
                         ("INVALID_FIELD", "ack.next_stage"))
        self.assertEqual(worker.ack(one), ["SETTLED"])


if __name__ == "__main__":
    unittest.main()
