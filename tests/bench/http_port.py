#!/usr/bin/python3
"""What calls cost by HTTP and by gRPC: leases that wait, enqueues, and leases of many queues.

    build/tests/support/with_postgres tests/bench/http_port.py waiting --count 9500
    build/tests/support/with_postgres tests/bench/http_port.py compare --seconds 5
    build/tests/support/with_postgres tests/bench/http_port.py fill --rounds 50

SKIPLANE_BUILD_DIR names a build for release; figures of another say nothing. One broker, on a
database of its own; a line of JSON goes to standard output."""

import argparse
import base64
import json
import os
import resource
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault("SKIPLANE_BUILD_DIR", os.path.join(ROOT, "build"))
sys.path.insert(0, os.path.join(ROOT, "tests", "system"))

from support.client import DEADLINE_S, broker_pb2  # noqa: E402
from support.http import JSON, PROTO, HttpClient, RawHttp, post  # noqa: E402
from support.case import leases_begun  # noqa: E402
from support.stage import stage  # noqa: E402

QUEUE = "calls"
ENQUEUE = "BrokerService/Enqueue"
COUNT_MAX = 20000
SPARE_CONNECTIONS = 100
SECONDS_MAX = 60
TASKS_PER_CALL_MAX = 100
QUEUES = 64
ROUNDS_MAX = 1000
WAIT_BOUND_S = 600
PAYLOAD = b"x" * 100


def threads_of(broker):
    return len(os.listdir(f"/proc/{broker.pid}/task"))


def wait_until_begun(broker, count):
    end = time.monotonic() + WAIT_BOUND_S
    while leases_begun(broker) < count:
        if time.monotonic() > end:
            raise SystemExit(f"the broker has {leases_begun(broker)} of {count} leases")


def enqueue(client, count):
    for begin in range(0, count, TASKS_PER_CALL_MAX):
        size = min(TASKS_PER_CALL_MAX, count - begin)
        client.enqueue_all(QUEUE, [client.new_task()] * size)


def waiting(broker, client, arguments):
    """Leases that wait, each on its connection; then all get a task."""
    lease = post("BrokerService/Lease",
                 {"queues": [{"name": QUEUE}], "maxTasks": 1, "wait": "60s"})
    warm = RawHttp(broker.http_address)
    warm.send(lease)
    wait_until_begun(broker, 1)
    threads, memory = threads_of(broker), broker.rss()
    callers = []
    for _ in range(arguments.count):
        callers.append(RawHttp(broker.http_address))
        callers[-1].send(lease)
    wait_until_begun(broker, arguments.count + 1)
    figures = {"waiting": arguments.count, "threads_before": threads,
               "threads": threads_of(broker),
               "bytes_per_call": round((broker.rss() - memory) / arguments.count)}
    begin = time.monotonic()
    enqueue(client, arguments.count + 1)
    answers = [caller.read_answer() for caller in (warm, *callers)]
    figures["seconds_to_answer_all"] = round(time.monotonic() - begin, 2)
    figures["answered"] = sum(
        answer.status == 200 and len(answer.json().get("tasks", ())) == 1 for answer in answers)
    for caller in (warm, *callers):
        caller.close()
    return figures


def rate(call, seconds):
    """Calls a second of one caller, each after the other; those of the first tenth do not count."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds / 10:
        call()
    begin, count = time.monotonic(), 0
    while time.monotonic() < begin + seconds:
        call()
        count += 1
    return count / (time.monotonic() - begin)


def forms_of(broker, client, size):
    """Each way to enqueue so many tasks by one call."""
    message = broker_pb2.EnqueueRequest(
        queue=QUEUE, tasks=[broker_pb2.NewTask(payload=PAYLOAD)] * size)
    packed = message.SerializeToString()
    text = json.dumps({"queue": QUEUE, "tasks": [
        {"payload": base64.b64encode(PAYLOAD).decode()}] * size})
    http = HttpClient(broker.http_address)

    def by_http(body, kind):
        answer = http.call(ENQUEUE, body, Content_Type=kind)
        assert answer.status == 200, answer.body

    return {"grpc": lambda: client.broker.Enqueue(message, timeout=DEADLINE_S),
            "http_proto": lambda: by_http(packed, PROTO), "http_json": lambda: by_http(text, JSON)}


def compare(broker, client, arguments):
    """Enqueue by one caller, one task and 100 in a call: calls a second, and parts of gRPC's."""
    figures = {}
    for size in (1, TASKS_PER_CALL_MAX):
        rates = {name: rate(call, arguments.seconds)
                 for name, call in forms_of(broker, client, size).items()}
        for name, value in rates.items():
            figures[f"{name}_{size}"] = round(value, 1)
            figures[f"{name}_{size}_of_grpc"] = round(value / rates["grpc"], 3)
    return figures


def fill(broker, client, arguments):
    """Leases of 64 queues with a task each: one call for all, and a call for each task."""
    queues = [f"fill-{number}" for number in range(QUEUES)]
    for queue in queues:
        client.create_queue(queue)
    tasks = [broker_pb2.NewTask(queue=queue) for queue in queues]
    http = HttpClient(broker.http_address)

    def by_grpc(most):
        request = broker_pb2.LeaseRequest(
            queues=[broker_pb2.LeaseQueue(name=queue) for queue in queues], max_tasks=most)
        return client.broker.Lease(request, timeout=DEADLINE_S).tasks

    def by_http(most):
        body = {"queues": [{"name": queue} for queue in queues], "maxTasks": most}
        answer = http.call("BrokerService/Lease", json.dumps(body), Content_Type=JSON)
        assert answer.status == 200, answer.body
        return answer.json().get("tasks", ())

    figures = {"queues": QUEUES}
    for name, lease in (("grpc", by_grpc), ("http_json", by_http)):
        for most in (QUEUES, 1):
            calls, times = [], []
            for _ in range(arguments.rounds):
                client.broker.Enqueue(broker_pb2.EnqueueRequest(tasks=tasks), timeout=DEADLINE_S)
                taken, count, begin = 0, 0, time.monotonic()
                while taken < QUEUES:
                    taken, count = taken + len(lease(most)), count + 1
                times.append(time.monotonic() - begin)
                calls.append(count)
            figures[f"{name}_max_{most}"] = {"calls": statistics.median(calls),
                                             "ms": round(statistics.median(times) * 1000, 1)}
    return figures


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    mode = modes.add_parser("waiting", help=waiting.__doc__)
    mode.add_argument("--count", type=int, default=1000, help=f"at most {COUNT_MAX}")
    mode.set_defaults(run=waiting)
    mode = modes.add_parser("compare", help=compare.__doc__)
    mode.add_argument("--seconds", type=float, default=5, help=f"of each of six, at most "
                      f"{SECONDS_MAX}")
    mode.set_defaults(run=compare)
    mode = modes.add_parser("fill", help=fill.__doc__)
    mode.add_argument("--rounds", type=int, default=50, help=f"at most {ROUNDS_MAX}")
    mode.set_defaults(run=fill)
    arguments = parser.parse_args()
    if not 0 < getattr(arguments, "rounds", 1) <= ROUNDS_MAX:
        parser.error(f"--rounds must be from 1 to {ROUNDS_MAX}")
    if not 0 < getattr(arguments, "count", 1) <= COUNT_MAX:
        parser.error(f"--count must be from 1 to {COUNT_MAX}")
    if not 0 < getattr(arguments, "seconds", 1) <= SECONDS_MAX:
        parser.error(f"--seconds must be above 0 and at most {SECONDS_MAX}")
    return arguments


def main():
    arguments = parse()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    connections = getattr(arguments, "count", 0) + SPARE_CONNECTIONS
    if 2 * connections + SPARE_CONNECTIONS > most:  # the broker keeps as many for gRPC
        raise SystemExit(f"{most} file descriptors are too few: ulimit -n"
                         f" {2 * connections + SPARE_CONNECTIONS}")
    flags = [f"--max-waiting-calls={COUNT_MAX + 1}", f"--max-connections={connections}",
             "--address-share=100"]
    with stage(*flags, http="127.0.0.1:0") as (broker, client, _):
        client.create_queue(QUEUE)
        print(json.dumps({"mode": arguments.mode, **arguments.run(broker, client, arguments)}))


if __name__ == "__main__":
    main()
