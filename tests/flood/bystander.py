"""A caller that minds its own business, as a process of its own: Enqueue, Lease and Ack, over and
over, on connections that last and, each tenth cycle, on a new one.

    bystander.py ADDRESS CERTIFICATE|- CALLERS [grpc|http]

It ends when its input does, and prints each call: when it began, how long it took, and whether it
was answered, as JSON."""

import http.client
import json
import os
import sys
import threading
import time

import place  # noqa: F401  (first)
import grpc

from support.client import (OPTIONS, admin_pb2, admin_pb2_grpc, broker_pb2, broker_pb2_grpc,
                            lease_request)
from support.http import HttpClient, trusting

DEADLINE_S = 10
QUEUE = "bystander"
PAUSE_S = 0.005   # the rate is not what is measured; a cycle takes some milliseconds
NEW_EVERY = 10


def channel_to(address, certificate):
    if certificate is None:
        return grpc.insecure_channel(address, OPTIONS)
    with open(certificate, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    return grpc.secure_channel(address, credentials, OPTIONS)


class Caller:
    def __init__(self, number, address, certificate):
        self._address, self._certificate = address, certificate
        self._queue = f"{QUEUE}-{number}"
        self.calls = []
        self._stub = self._connect()

    def create(self):
        stub = admin_pb2_grpc.AdminServiceStub(self._channel)
        stub.CreateQueue(admin_pb2.CreateQueueRequest(name=self._queue), timeout=DEADLINE_S)

    def _connect(self):
        self._channel = channel_to(self._address, self._certificate)
        return broker_pb2_grpc.BrokerServiceStub(self._channel)

    def play(self, ended):
        cycles = 0
        while not ended.is_set():
            cycles += 1
            if cycles % NEW_EVERY == 0:
                self._channel.close()
                self._stub = self._connect()
            try:
                self._cycle()
            except grpc.RpcError:
                pass  # it is among the calls
            ended.wait(PAUSE_S)

    def _cycle(self):
        new = broker_pb2.EnqueueRequest(queue=self._queue, tasks=[broker_pb2.NewTask(payload=b"x")])
        self._timed(self._stub.Enqueue, new)
        leased = self._timed(self._stub.Lease, lease_request(self._queue, wait=5))
        items = [broker_pb2.AckItem(lease_token=task.lease_token) for task in leased.tasks]
        if items:
            self._timed(self._stub.Ack, broker_pb2.AckRequest(items=items))

    def _timed(self, method, request):
        begin, code = time.monotonic(), "OK"
        try:
            return method(request, timeout=DEADLINE_S)
        except grpc.RpcError as error:
            code = error.code().name
            raise
        finally:
            self.calls.append((begin, time.monotonic() - begin, code))


class HttpCaller(Caller):
    """The same by HTTP and JSON."""

    def create(self):
        self._post("AdminService/CreateQueue", {"name": self._queue})

    def _connect(self):
        context = None if self._certificate is None else trusting(self._certificate)
        self._channel = HttpClient(self._address, context)

    def _cycle(self):
        new = {"queue": self._queue, "tasks": [{"payload": "eA=="}]}
        self._timed("BrokerService/Enqueue", new)
        leased = self._timed("BrokerService/Lease", {
            "queues": [{"name": self._queue}], "maxTasks": 1, "wait": "5s"})
        items = [{"leaseToken": task["leaseToken"]} for task in leased.get("tasks", ())]
        if items:
            self._timed("BrokerService/Ack", {"items": items})

    def _timed(self, method, request):
        begin, code = time.monotonic(), "FAILED"
        try:
            answer = self._post(method, request)
            code = "OK"
            return answer
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._channel.close()  # the next call makes a new connection
            raise Failed(error) from error
        finally:
            self.calls.append((begin, time.monotonic() - begin, code))

    def _post(self, method, request):
        answer = self._channel.call(method, request)
        if answer.status != 200:
            raise ValueError(answer.status)
        return answer.json()


class Failed(grpc.RpcError):
    """Of a call by HTTP."""


def main(address, certificate, callers, form="grpc"):
    ended = threading.Event()
    kind = HttpCaller if form == "http" else Caller
    all_ = [kind(i, address, None if certificate == "-" else certificate)
            for i in range(int(callers))]
    for caller in all_:
        caller.create()
    threads = [threading.Thread(target=caller.play, args=(ended,)) for caller in all_]
    for thread in threads:
        thread.start()
    print("calling", flush=True)
    sys.stdin.read()
    ended.set()
    for thread in threads:
        thread.join()
    print(json.dumps([call for caller in all_ for call in caller.calls]), flush=True)
    os._exit(0)  # without gRPC's own end, which may hang


if __name__ == "__main__":
    main(*sys.argv[1:])
