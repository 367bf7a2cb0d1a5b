"""A producer: enqueues of single tasks on a Produce stream, and with packing also of batches; each
has a request id, and each task a payload of its own. What was not answered when the stream broke is
sent again under the same request id. A task of a batch is sometimes given another priority, as an
operator would: then it leaves its pack, and others with it."""

import os
import random
import threading

import grpc

from journal import Journal, Where
from support import stream
from support.client import DEADLINE_S, Client, admin_pb2, broker_pb2, new_id, reason_of

BURSTS = (1, 1, 1, 2, 4, 16)  # enqueues under way at the same time
PAUSE_S = 0.02  # at most, after a burst: the workers run out of tasks and wait
# With packing some of what is drawn are batches, most of all tasks. They come without single
# enqueues beside them: in one commit with many of these they would be rows.
BATCH_SHARE = 0.3
BATCHES = (1, 1, 1, 2)
BATCH_TASKS = (16, 64)
BATCH_PAUSE_S = 0.3  # as PAUSE_S
MOVED_SHARE = 0.5  # of batches
PRIORITIES = (0, 1, 2)
MAX_ATTEMPTS = 1000
# How a stream ends whose broker was killed, or that was open for the whole of its deadline.
GONE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED)
# What a change is refused with besides: the task has ended, or a commit that is held back has it.
NOT_MOVED = (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION,
             grpc.StatusCode.ABORTED)
AGAIN_S = 0.01  # between two tries to reach a broker that is not up yet


class Producer:
    def __init__(self, folder, name, settings):
        self._name, self._queue, self._packing = name, settings["queue"], settings["packing"]
        self._random = random.Random(f"{settings['seed']} {name}")
        self._journal, self._where = Journal(folder, name), Where(folder)
        self._count, self._pause_s = 0, PAUSE_S
        self._pause = threading.Event()  # which never comes

    def run(self):
        open_requests = {}  # by their first payload
        while not self._where.is_over() or open_requests:
            client = Client(self._where.choose(self._random)[1])
            producer = stream.Producer(client)
            try:
                self._produce(client, producer, open_requests)
            except grpc.RpcError as error:
                if error.code() not in GONE:
                    self._journal.note("ended", reason_of(error), error.details())
                    return
                self._pause.wait(AGAIN_S)
            finally:
                producer.send_no_more()
                client.close()
        os.write(1, f"produced {self._name}\n".encode())

    def _produce(self, client, producer, open_requests):
        while open_requests or not self._where.is_over():
            if open_requests:
                self._journal.note("repeated", *payloads_of(open_requests))
            else:
                self._draw(open_requests)
            numbers = {}
            for first, request in open_requests.items():
                [number] = producer.enqueue(request)
                numbers[number] = first
            for number, first in numbers.items():
                answer = producer.answer(number)
                if answer.HasField("refusal"):
                    self._journal.note("refused", first, answer.refusal.reason)
                    continue
                payloads = payloads_of({first: open_requests.pop(first)})
                for payload, result in zip(payloads, answer.response.results, strict=True):
                    self._journal.note("answered", payload, result.task_id)
                if len(payloads) > 1 and self._random.random() < MOVED_SHARE:
                    self._move(client, self._random.choice(answer.response.results).task_id)
            self._pause.wait(self._random.random() * self._pause_s)

    def _move(self, client, task_id):
        request = admin_pb2.PrioritizeTaskRequest(
            task_id=task_id, priority=self._random.choice(PRIORITIES), request_id=new_id())
        try:
            client.admin.PrioritizeTask(request, timeout=DEADLINE_S)
            self._journal.note("moved", task_id)
        except grpc.RpcError as error:
            if error.code() not in NOT_MOVED:
                raise

    def _draw(self, open_requests):
        for size in self._sizes():
            tasks = []
            for _ in range(size):
                self._count += 1
                tasks.append(broker_pb2.NewTask(payload=f"{self._name} {self._count}".encode(),
                                                max_attempts=MAX_ATTEMPTS))
            open_requests[tasks[0].payload.decode()] = broker_pb2.EnqueueRequest(
                queue=self._queue, tasks=tasks, request_id=new_id())
        self._journal.note("asked", *payloads_of(open_requests))

    def _sizes(self):
        """How many tasks each of the next enqueues has."""
        if self._packing and self._random.random() < BATCH_SHARE:
            self._pause_s = BATCH_PAUSE_S
            return [self._random.randint(*BATCH_TASKS) for _ in range(self._random.choice(BATCHES))]
        self._pause_s = PAUSE_S
        return [1] * self._random.choice(BURSTS)


def payloads_of(requests):
    return [task.payload.decode() for request in requests.values() for task in request.tasks]
