"""A producer: single enqueues on a Produce stream, each with a request id and a payload of its own.
What was not answered when the stream broke is sent again under the same request id."""

import os
import random
import threading

import grpc

from journal import Journal, Where
from support import stream
from support.client import Client, broker_pb2, new_id, reason_of

BURSTS = (1, 1, 1, 2, 4, 16)  # enqueues under way at the same time
PAUSE_S = 0.02  # at most, after a burst: the workers run out of tasks and wait
MAX_ATTEMPTS = 1000
# How a stream ends whose broker was killed, or that was open for the whole of its deadline.
GONE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED)
AGAIN_S = 0.01  # between two tries to reach a broker that is not up yet


class Producer:
    def __init__(self, folder, name, settings):
        self._name, self._queue = name, settings["queue"]
        self._random = random.Random(f"{settings['seed']} {name}")
        self._journal, self._where = Journal(folder, name), Where(folder)
        self._count = 0
        self._pause = threading.Event()  # which never comes

    def run(self):
        open_requests = {}  # by payload
        while not self._where.is_over() or open_requests:
            client = Client(self._where.choose(self._random)[1])
            producer = stream.Producer(client)
            try:
                self._produce(producer, open_requests)
            except grpc.RpcError as error:
                if error.code() not in GONE:
                    self._journal.note("ended", reason_of(error), error.details())
                    return
                self._pause.wait(AGAIN_S)
            finally:
                producer.send_no_more()
                client.close()
        os.write(1, f"produced {self._name}\n".encode())

    def _produce(self, producer, open_requests):
        while open_requests or not self._where.is_over():
            if open_requests:
                self._journal.note("repeated", *open_requests)
            else:
                self._draw(open_requests)
            numbers = {}
            for payload, request in open_requests.items():
                [number] = producer.enqueue(request)
                numbers[number] = payload
            for number, payload in numbers.items():
                answer = producer.answer(number)
                if answer.HasField("refusal"):
                    self._journal.note("refused", payload, answer.refusal.reason)
                    continue
                [result] = answer.response.results
                self._journal.note("answered", payload, result.task_id)
                del open_requests[payload]
            self._pause.wait(self._random.random() * PAUSE_S)

    def _draw(self, open_requests):
        for _ in range(self._random.choice(BURSTS)):
            self._count += 1
            payload = f"{self._name} {self._count}"
            task = broker_pb2.NewTask(payload=payload.encode(), max_attempts=MAX_ATTEMPTS)
            open_requests[payload] = broker_pb2.EnqueueRequest(
                queue=self._queue, tasks=[task], request_id=new_id())
        self._journal.note("asked", *open_requests)
