"""A worker by calls: it leases with a request id and waits, and what was not answered is asked for
again under the same id at whichever broker runs then; it settles several attempts in a call, and a
thread sends heartbeats. Only these count as signs of life."""

import os
import threading

import grpc

from held import AT_ONCE, Holder
from producer import AGAIN_S, GONE
from support import stream
from support.client import (DEADLINE_S, Client, broker_pb2, lease_request, new_id, reason_of,
                            seconds)

WAITS_S = (0, 0.05, 0.5, 2)
REPEAT_WAIT_S = 5
# Another call has the same request id under way, or a conflict passes: to be repeated.
AGAIN = (*GONE, grpc.StatusCode.ABORTED)


class CallWorker(Holder):
    def __init__(self, folder, name, settings):
        super().__init__(folder, name, settings)
        self._asked = None  # the Lease that was not answered
        self._told = set()  # starts of brokers

    def run(self):
        threading.Thread(target=self._beat, daemon=True).start()
        while True:
            start, address = self._where.choose(self._random)
            client = Client(address)
            try:
                while True:
                    self._settle(client, start)
                    self._lease(client)
            except grpc.RpcError as error:
                if error.code() not in AGAIN:
                    self._journal.note("ended", reason_of(error), error.details())
                    return
                if self._asked is not None:  # as docs/PROTOCOL.md says: a commit may come late
                    self._asked.wait.CopyFrom(seconds(REPEAT_WAIT_S))
                self._pause.wait(AGAIN_S)
            finally:
                client.close()

    def _lease(self, client):
        if self._asked is None:
            self._asked = lease_request(
                self._settings["queue"], wait=self._random.choice(WAITS_S),
                duration=self._settings["lease_s"], max_tasks=self._random.randint(1, self._credit),
                worker_id=self._worker_id, worker_name=self._name, request_id=new_id())
        leased = client.broker.Lease(self._asked, timeout=DEADLINE_S)
        self._asked = None
        with self._lock:
            self._take(leased.tasks)

    def _settle(self, client, start):
        """Those whose settlement was not answered, and some of the others."""
        with self._lock:
            those = [each for each in self._held.values()
                     if each.kind is not None or self._random.random() < AT_ONCE]
            for each in those:
                if each.kind is not None:
                    self._journal.note("repeated", *each.name, each.kind)
                    continue
                each.draw(self._random)
                self._journal.note("sent", *each.name, each.kind)
        if not those:
            return
        answer = client.broker.Settle(
            broker_pb2.SettleRequest(items=[each.item() for each in those]), timeout=DEADLINE_S)
        with self._lock:
            for each, result in zip(those, answer.results, strict=True):
                outcome = stream.settle_outcome_of(result)
                self._journal.note("told", *each.name, each.kind, outcome)
                self._held.pop(each.lease_token, None)
        if start not in self._told:
            self._told.add(start)
            os.write(1, f"start {start} told {self._name}\n".encode())

    def _beat(self):
        while not self._pause.wait(self._settings["lease_s"] / 6):
            with self._lock:
                held = [each for each in self._held.values() if each.kind is None]
            client = Client(self._where.choose(self._random)[1])
            try:
                answer = client.heartbeat(self._worker_id, self._settings["lease_s"], *held)
            except grpc.RpcError:
                continue
            finally:
                client.close()
            self._is_alive()
            with self._lock:
                self._look_at(held, stream.lease_states(answer.results), "heartbeat")
