"""A Watch whose messages are read as they come."""

import queue
import threading

import grpc

from support.client import admin_pb2
from support.process import GENEROUS_S


class Watch:
    """`seen`: what it knows of each queue. By gRPC; with the caller's token, if one is given."""

    def __init__(self, client, queues=(), token=None):
        self.seen = {}
        self._messages = queue.Queue()
        metadata = [("authorization", f"Bearer {token}")] if token else None
        self._call = client.admin.Watch(admin_pb2.WatchRequest(queues=queues), metadata=metadata)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        try:
            for message in self._call:
                self._messages.put(message)
            self._messages.put(None)
        except grpc.RpcError as error:
            self._messages.put(error)

    def next(self):
        """The next message; None at its end. A refusal is raised."""
        message = self._messages.get(timeout=GENEROUS_S)
        if isinstance(message, grpc.RpcError):
            raise message
        for summary in message.summaries if message else ():
            self.seen[summary.queue] = summary
        for name in message.removed_queues if message else ():
            del self.seen[name]
        return message

    def begin(self):
        """Reads what is there at first; the names of the queues."""
        while self.next().more_follows:
            pass
        return sorted(self.seen)

    def until(self, is_so):
        while not is_so(self.seen):
            assert self.next() is not None, "it has ended"

    def end_of(self):
        """How it ends: OK is None."""
        try:
            while self.next() is not None:
                pass
        except grpc.RpcError as error:
            return error
        return None

    def close(self):
        self._call.cancel()
        self._reader.join()
