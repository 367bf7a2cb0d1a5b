"""The two streams, as a client in another language drives them."""

import itertools
import queue

import grpc

from support.client import DEADLINE_S, new_id, seconds
from support.client import broker_pb2


class Stream:
    """Messages go out as they are sent; next() waits for one that comes in."""

    def __init__(self, method, token=None):
        self._out = queue.SimpleQueue()
        shown = None if token is None else (("authorization", f"Bearer {token}"),)
        self.call = method(iter(self._out.get, None), timeout=DEADLINE_S, metadata=shown)
        self._numbers = itertools.count(1)

    def send(self, request):
        self._out.put(request)

    def number(self):
        return next(self._numbers)

    def next(self):
        return next(self.call)

    def send_no_more(self):
        self._out.put(None)

    def read(self):
        self.next()

    def break_off(self):
        self.call.cancel()

    def refusal(self):
        """Reads to the end, which is to be a refusal."""
        try:
            while True:
                self.read()
        except StopIteration:
            raise AssertionError("the stream ended with OK") from None
        except grpc.RpcError as error:
            return error


class Producer(Stream):
    def __init__(self, client, token=None):
        super().__init__(client.broker.Produce, token)
        self.answers = {}

    def enqueue(self, *requests):
        """In one message; their numbers."""
        numbers = [self.number() for _ in requests]
        self.send(broker_pb2.ProduceRequest(enqueues=[
            broker_pb2.ProduceEnqueue(number=number, request=request)
            for number, request in zip(numbers, requests)]))
        return numbers

    def answer(self, number):
        while number not in self.answers:
            for result in self.next().results:
                self.answers[result.number] = result
        return self.answers.pop(number)


class Worker(Stream):
    def __init__(self, client, *queues, worker_id=None, duration=30, credit=0, held=(), token=None,
                 beside=None, **hello):
        """`beside`: a WorkRequest, what the first message says beside the hello and the credit."""
        super().__init__(client.broker.Work, token)
        self.worker_id = worker_id or new_id()
        self.tasks, self.results, self.beats, self.notices = [], {}, {}, []
        self.welcome, self.is_draining, self.withdrawn = None, False, []
        first = beside or broker_pb2.WorkRequest()
        first.MergeFrom(broker_pb2.WorkRequest(credit=credit, hello=broker_pb2.WorkHello(
            worker_id=self.worker_id, lease_duration=seconds(duration),
            queues=[q if isinstance(q, broker_pb2.LeaseQueue) else broker_pb2.LeaseQueue(name=q)
                    for q in queues],
            leases=[broker_pb2.HeldLease(lease_token=task.lease_token) for task in held],
            **hello)))
        self.send(first)

    def read(self):
        message = self.next()
        if message.HasField("welcome"):
            self.welcome = message.welcome
        self.tasks += message.tasks
        self.results.update((result.number, result) for result in message.results)
        self.beats.update((beat.number, beat) for beat in message.heartbeats)
        self.notices += message.notices
        self.is_draining |= message.draining
        if message.HasField("withdrawn_credit"):
            self.withdrawn.append(message.withdrawn_credit)

    def read_until(self, is_so):
        while not is_so():
            self.read()

    def wait_for_welcome(self):
        self.read_until(lambda: self.welcome is not None)
        return self.welcome

    def take(self, count=1):
        """Tasks that are pushed."""
        self.read_until(lambda: len(self.tasks) >= count)
        taken, self.tasks = self.tasks[:count], self.tasks[count:]
        return taken

    def give_credit(self, count):
        self.send(broker_pb2.WorkRequest(credit=count))

    def withdraw_credit(self, credit=0):
        """How much was taken back, before this credit was given."""
        self.send(broker_pb2.WorkRequest(withdraw_credit=True, credit=credit))
        before = len(self.withdrawn)
        self.read_until(lambda: len(self.withdrawn) > before)
        return self.withdrawn[-1]

    def settle(self, *items, credit=0):
        """In one message; their numbers."""
        numbers = [self.number() for _ in items]
        self.send(broker_pb2.WorkRequest(credit=credit, settlements=[
            broker_pb2.WorkSettlement(number=number, item=item)
            for number, item in zip(numbers, items)]))
        return numbers

    def result(self, number):
        self.read_until(lambda: number in self.results)
        return self.results.pop(number)

    def ack(self, *tasks, credit=0):
        """Outcomes."""
        numbers = self.settle(*(ack_of(task) for task in tasks), credit=credit)
        return [outcome_of(self.result(number)) for number in numbers]

    def begin_beat(self, *tasks, end_session=False):
        """Its number."""
        number = self.number()
        self.send(broker_pb2.WorkRequest(heartbeat=broker_pb2.WorkHeartbeat(
            number=number, end_session=end_session,
            leases=[broker_pb2.HeldLease(lease_token=task.lease_token) for task in tasks])))
        return number

    def beat_answer(self, number):
        self.read_until(lambda: number in self.beats)
        return self.beats.pop(number)

    def beat(self, *tasks, end_session=False):
        """The answer."""
        return self.beat_answer(self.begin_beat(*tasks, end_session=end_session))


def ack_of(task, **fields):
    return broker_pb2.SettleItem(ack=broker_pb2.AckItem(lease_token=task.lease_token, **fields))


def nack_of(task, **fields):
    return broker_pb2.SettleItem(nack=broker_pb2.NackItem(lease_token=task.lease_token, **fields))


def release_of(task):
    return broker_pb2.SettleItem(release=broker_pb2.ReleaseItem(lease_token=task.lease_token))


def outcome_of(result):
    """Of a WorkResult: the outcome's name, or the reason of its refusal."""
    if result.HasField("refusal"):
        return result.refusal.reason
    return settle_outcome_of(result.result)


def settle_outcome_of(result):
    return broker_pb2.SettleOutcome.Name(result.outcome).removeprefix("SETTLE_OUTCOME_")


def lease_states(results):
    return [broker_pb2.LeaseState.Name(result.state).removeprefix("LEASE_STATE_")
            for result in results]
