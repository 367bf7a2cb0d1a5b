"""Callers that go on while an operator changes something, and none of whose calls may fail."""

import threading

import grpc

from support.client import DEADLINE_S, OPTIONS, broker_pb2, broker_pb2_grpc
from support.process import GENEROUS_S

PAUSE_S = 0.01


class Caller:
    """Enqueues tasks, one after another, at a broker by TLS or not. `show` makes its credentials
    for each new connection: those of the channel, or none, and the call's metadata. A connection
    serves one call, or all of them if `keeps` is true."""

    def __init__(self, address, queue, show=lambda: (None, ()), keeps=False):
        self._address, self._queue, self._show, self._keeps = address, queue, show, keeps
        self._over = threading.Event()
        self._changed = threading.Condition()
        self.calls = 0
        self.failures = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_for_calls(self, case, count=10):
        """So many more, all answered."""
        with self._changed:
            wanted = self.calls + count
            self._changed.wait_for(lambda: self.failures or self.calls >= wanted, GENEROUS_S)
            case.assertEqual(self.failures, [])
            case.assertGreaterEqual(self.calls, wanted)

    def end(self):
        self._over.set()
        self._thread.join(GENEROUS_S)

    def _run(self):
        while not self._over.is_set():
            credentials, metadata = self._show()
            with self._connect(credentials) as channel:
                self._call(channel, metadata)
                while self._keeps and not self._over.is_set():
                    self._call(channel, self._show()[1])

    def _connect(self, credentials):
        if credentials is None:
            return grpc.insecure_channel(self._address, OPTIONS)
        return grpc.secure_channel(self._address, credentials, OPTIONS)

    def _call(self, channel, metadata):
        request = broker_pb2.EnqueueRequest(queue=self._queue, tasks=[broker_pb2.NewTask()])
        failure = None
        try:
            broker_pb2_grpc.BrokerServiceStub(channel).Enqueue(request, timeout=DEADLINE_S,
                                                               metadata=metadata)
        except grpc.RpcError as error:
            failure = f"{error.code()}: {error.details()}"
        with self._changed:
            self.calls += 1
            if failure is not None:
                self.failures.append(failure)
            self._changed.notify_all()
        self._over.wait(PAUSE_S)
