"""A worker: tasks come on a Work stream, and each is acked, retried or released by itself, at once
or a little later; with packing, half of the workers get many at a time, and settlements of several
go out in one message as well as one by one. When the stream breaks the next hello names what the
worker holds, and what was not answered is settled again."""

import os
import threading
import time

import grpc

from held import AT_ONCE, Holder
from producer import AGAIN_S, GONE
from support import stream
from support.client import Client, broker_pb2, reason_of

TICK_S = 0.02  # each task that was not settled at once is with an even chance


class Worker(Holder):
    def __init__(self, folder, name, settings):
        super().__init__(folder, name, settings)
        self._refused = []  # settlements that are to be sent again, at the next tick
        self._stream = None

    def run(self):
        while True:
            start, address = self._where.choose(self._random)
            client = Client(address)
            broken = threading.Event()
            ticks = threading.Thread(target=self._tick, args=[broken])
            try:
                self._open(client)
                ticks.start()
                self._read(start)
            except grpc.RpcError as error:
                if error.code() not in GONE:
                    self._journal.note("ended", reason_of(error), error.details())
                self._pause.wait(AGAIN_S)
            finally:
                broken.set()
                if ticks.ident is not None:
                    ticks.join()
                self._stream.send_no_more()
                client.close()

    def _open(self, client):
        """Waits for the welcome, and settles again what is not known to be settled."""
        held = list(self._held.values())
        waiting = sum(each.kind is None for each in held)  # the others have brought their credit
        worker = stream.Worker(
            client, self._settings["queue"], worker_id=self._worker_id, worker_name=self._name,
            duration=self._settings["lease_s"], credit=self._credit - waiting, held=held)
        self._stream, self._sent, self._beats, self._refused = worker, {}, {}, []
        self._beat_at = time.monotonic()
        states = stream.lease_states(worker.wait_for_welcome().leases)
        self._is_alive()
        with self._lock:
            self._look_at(held, states, "hello")
            for each in held:
                if each.kind is not None:
                    self._journal.note("repeated", *each.name, each.kind)
                    self._send([each], credit=0)

    def _read(self, start):
        worker, is_told = self._stream, False
        while True:
            with self._lock:
                self._receive(worker)
                is_told = self._learn(worker, start, is_told)
            worker.read()

    def _receive(self, worker):
        tasks, worker.tasks = worker.tasks, []
        self._settle([each for each in self._take(tasks) if self._random.random() < AT_ONCE])

    def _learn(self, worker, start, is_told):
        """What was answered."""
        while worker.results:
            number, result = worker.results.popitem()
            each, outcome = self._sent.pop(number), stream.outcome_of(result)
            if result.HasField("refusal"):
                self._journal.note("refused", *each.name, outcome)
                self._refused.append(each)
                continue
            self._journal.note("told", *each.name, each.kind, outcome)
            self._held.pop(each.lease_token, None)
            if not is_told:
                os.write(1, f"start {start} told {self._name}\n".encode())
                is_told = True
        while worker.beats:
            number, beat = worker.beats.popitem()
            if beat.HasField("refusal"):  # PostgreSQL is away
                del self._beats[number]
                continue
            self._is_alive()
            if not beat.response.session_alive:
                self._journal.note("ended", "the session is not alive")
            self._look_at(self._beats.pop(number),
                          stream.lease_states(beat.response.results), "heartbeat")
        notices, worker.notices = worker.notices, []
        for notice in notices:
            lost = [each for each in self._held.values() if each.task_id == notice.task_id]
            self._look_at(lost, ["LOST"] * len(lost), "notice")
        return is_told

    def _settle(self, those):
        for each in those:
            each.draw(self._random)
            self._journal.note("sent", *each.name, each.kind)
        if self._settings["packing"] and those and self._random.random() < 0.5:
            self._send(those, credit=len(those))
            return
        for each in those:
            self._send([each], credit=1)

    def _send(self, those, credit):
        """In one message."""
        numbers = self._stream.settle(*(each.item() for each in those), credit=credit)
        self._sent.update(zip(numbers, those))

    def _tick(self, broken):
        while not broken.wait(TICK_S):
            with self._lock:
                refused, self._refused = self._refused, []
                for each in refused:
                    self._send([each], credit=0)
                self._settle([each for each in self._held.values()
                              if each.kind is None and self._random.random() < 0.5])
                if time.monotonic() - self._beat_at > self._settings["lease_s"] / 6:
                    self._beat()

    def _beat(self):
        self._beat_at = time.monotonic()
        held = [each for each in self._held.values() if each.kind is None]
        number = self._stream.number()
        self._beats[number] = held
        self._stream.send(broker_pb2.WorkRequest(heartbeat=broker_pb2.WorkHeartbeat(
            number=number, leases=[broker_pb2.HeldLease(lease_token=each.lease_token)
                                   for each in held])))
