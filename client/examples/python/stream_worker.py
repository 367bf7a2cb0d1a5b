"""Works on the queue "mail" on the stream Work, until SIGTERM: stream_worker.py ADDRESS...

Its session, and so its leases, outlive streams and brokers: when a stream ends, it begins another
one, at the next broker, says what it holds, and settles again what was not answered."""

import itertools
import queue
import random
import signal
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf.duration_pb2 import Duration
from skiplane.v1 import broker_pb2 as pb, broker_pb2_grpc, task_pb2

SLOTS = 20
LEASE_S = 30
LEAST_PAUSE_S, MOST_PAUSE_S = 0.05, 5
FINAL = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNIMPLEMENTED,
         grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED)
# A broker whose host vanished is found by pings; gRPC alone would connect again after two minutes.
OPTIONS = [("grpc.keepalive_time_ms", 20000), ("grpc.keepalive_timeout_ms", 10000),
           ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 5000)]


class Attempt:
    """A lease: its work runs, or has ended and is not answered yet."""

    def __init__(self, task):
        self.task = task
        self.stop = threading.Event()  # lost, or cancelled by an operator
        self.end = None                # SettleItem

    def held(self):
        return pb.HeldLease(lease_token=self.task.lease_token)


class Worker:
    def __init__(self, handle):
        self.handle = handle
        self.hello = dict(worker_id=str(uuid.uuid4()), client_version="example-python",
                          concurrency=SLOTS, lease_duration=Duration(seconds=LEASE_S),
                          queues=[pb.LeaseQueue(name="mail")])
        self.pool = ThreadPoolExecutor(SLOTS)
        self.numbers = itertools.count(1)
        self.lock = threading.RLock()
        self.held, self.running, self.is_stopping = [], 0, False
        self.is_quiet = False  # an operator asked for no more tasks
        self.out = None  # of the stream at hand, and what is not answered on it, by numbers
        self.settled, self.asked = {}, {}
        self.last, self.has_ended = None, False  # the heartbeat that ends the session

    def run(self, brokers):
        threading.Thread(target=self.renew_always, daemon=True).start()
        pause = LEAST_PAUSE_S
        for broker in itertools.cycle(brokers):
            try:
                for message in self.begin(broker):
                    pause = LEAST_PAUSE_S
                    self.take(message)
            except grpc.RpcError as error:  # also at a broker that drains
                if error.code() in FINAL:
                    raise
                print("stream ended:", error.details(), file=sys.stderr)
            else:
                if self.has_ended:
                    return
                print("stream ended: it was old", file=sys.stderr)
                continue
            finally:
                self.leave()
            time.sleep(pause * random.uniform(0.5, 1))  # not all clients at once
            pause = min(2 * pause, MOST_PAUSE_S)

    def begin(self, broker):
        with self.lock:
            self.out, self.settled, self.asked = queue.SimpleQueue(), {}, {}
            self.last, self.has_ended = None, False
            self.asked[0] = list(self.held)
            self.out.put(pb.WorkRequest(
                credit=0 if self.is_stopping or self.is_quiet else SLOTS - self.running,
                hello=pb.WorkHello(leases=[attempt.held() for attempt in self.held], **self.hello)))
            for attempt in self.held:
                if attempt.end:
                    self.settle(attempt)
            return broker.Work(iter(self.out.get, None))

    def leave(self):
        with self.lock:
            self.out.put(None)
            self.out = None

    def take(self, message):
        with self.lock:
            if message.HasField("welcome"):
                self.note(0, message.welcome.leases)
            for task in message.tasks:
                self.start(task)
            for result in message.results:
                self.answered(self.settled.pop(result.number), result)
            for beat in message.heartbeats:
                self.note(beat.number, beat.response.results)  # none if it was refused
                if beat.HasField("response") and beat.number != self.last:
                    self.obey(beat.response.command)
                if beat.number == self.last:  # an old stream ends without this answer
                    self.has_ended = beat.HasField("response")
            for notice in message.notices:
                for attempt in list(self.held):
                    if attempt.task.lease_token == notice.lease_token:
                        self.told(attempt, notice.state)
            self.end_if_idle()

    def obey(self, command):
        """What an operator asks: to take no more tasks, to take some again, or to stop."""
        is_quiet = command in (task_pb2.WORKER_COMMAND_QUIET, task_pb2.WORKER_COMMAND_STOP)
        if is_quiet != self.is_quiet and not self.is_stopping:
            self.is_quiet = is_quiet
            self.out.put(pb.WorkRequest(withdraw_credit=is_quiet,
                                        credit=0 if is_quiet else SLOTS - self.running))
        if command == task_pb2.WORKER_COMMAND_STOP:
            self.is_stopping = True

    def note(self, number, results):
        for attempt, result in zip(self.asked.pop(number, []), results):
            self.told(attempt, result.state)

    def told(self, attempt, state):
        if state != pb.LEASE_STATE_HELD:
            attempt.stop.set()
        if state == pb.LEASE_STATE_LOST and not attempt.end and attempt in self.held:
            self.held.remove(attempt)

    def start(self, task):
        attempt = Attempt(task)
        self.held.append(attempt)
        if self.is_stopping:  # it was on its way
            attempt.end = pb.SettleItem(release=pb.ReleaseItem(lease_token=task.lease_token))
            self.settle(attempt)
        else:
            self.running += 1
            self.pool.submit(self.work, attempt)

    def work(self, attempt):
        token = attempt.task.lease_token
        try:
            self.handle(attempt.task, attempt.stop)
            end = pb.SettleItem(ack=pb.AckItem(lease_token=token))
        except Exception as error:  # pylint: disable=broad-except
            end = nack(token, type(error).__name__, str(error))
        with self.lock:
            self.running -= 1
            if self.out and not self.is_stopping and not self.is_quiet:
                self.out.put(pb.WorkRequest(credit=1))
            if attempt in self.held:  # else it was lost
                attempt.end = end
                self.settle(attempt)
            self.end_if_idle()

    def settle(self, attempt):
        if self.out:  # the next stream settles all that has an end
            number = next(self.numbers)
            self.settled[number] = attempt
            self.out.put(pb.WorkRequest(
                settlements=[pb.WorkSettlement(number=number, item=attempt.end)]))

    def answered(self, attempt, answer):
        if answer.HasField("refusal"):  # as when the database was away
            delay_s = answer.refusal.retry_delay.ToTimedelta().total_seconds()
            threading.Timer(max(delay_s, LEAST_PAUSE_S), self.settle_again,
                            [attempt, self.out]).start()
        elif answer.result.HasField("refusal"):  # it asks for what is impossible
            refusal = answer.result.refusal
            attempt.end = nack(attempt.task.lease_token, refusal.reason, refusal.message)
            self.settle(attempt)
        else:
            self.held.remove(attempt)

    def settle_again(self, attempt, out):
        with self.lock:
            if self.out is out:
                self.settle(attempt)

    def renew_always(self):
        while True:
            time.sleep(LEASE_S / 4)
            with self.lock:
                if self.out:
                    self.renew()

    def renew(self, end_session=False):
        number = next(self.numbers)
        self.asked[number] = list(self.held)
        self.out.put(pb.WorkRequest(heartbeat=pb.WorkHeartbeat(
            number=number, end_session=end_session,
            leases=[attempt.held() for attempt in self.held])))
        return number

    def stop(self):
        """Lets what runs end, and then the session."""
        with self.lock:
            self.is_stopping = True
            self.end_if_idle()

    def end_if_idle(self):
        is_idle = self.is_stopping and not self.held and not self.running
        if is_idle and self.out and not self.last:
            self.last = self.renew(end_session=True)
            self.out.put(None)


def nack(token, kind, text):
    return pb.SettleItem(nack=pb.NackItem(
        lease_token=token, error={"type": kind, "text": text.encode()}))


def print_task(task, _stop):
    print("attempt", task.attempt, "of", task.task_id, task.payload, flush=True)
    first, _, seconds = task.payload.partition(b" ")
    time.sleep(float(seconds) if first == b"sleep" else 0.01)  # as if it were work


def main():
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # in all threads
    worker = Worker(print_task)
    threading.Thread(target=lambda: (signal.sigwait(signals), worker.stop()), daemon=True).start()
    worker.run([broker_pb2_grpc.BrokerServiceStub(grpc.insecure_channel(address, OPTIONS))
                for address in sys.argv[1:]])


main()
