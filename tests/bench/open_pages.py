#!/usr/bin/python3
"""What open pages of the dashboard cost, each in a browser of its own: it watches all queues, or
with --asking asks for them every 2 seconds, as where a broker has no Watch. --busy N: so many
queues get a task each second.

    build/tests/support/with_postgres tests/bench/open_pages.py --pages 20 --queues 2000

SKIPLANE_BUILD_DIR names a build for release; figures of another say nothing. One broker, on a
database of its own; a line of JSON goes to standard output: processor time in thousandths of a
core, of the broker and of PostgreSQL, without pages and with them."""

import argparse
import json
import os
import socket
import struct
import sys
import threading
import time
from http.client import HTTPException

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault("SKIPLANE_BUILD_DIR", os.path.join(ROOT, "build"))
sys.path.insert(0, os.path.join(ROOT, "tests", "system"))

from support.http import SERVICES, HttpClient  # noqa: E402
from support.http_stream import PLAIN, STREAM_JSON, envelope, read_envelope  # noqa: E402
from support.stage import stage  # noqa: E402

WATCH = f"{SERVICES}AdminService/Watch"
PERIOD_S = 2
SPARKS = 15  # queues in view, whose curves are asked for once a minute
SPARKS_PERIOD_S = 60
PAGES_MAX, QUEUES_MAX, SECONDS_MAX = 100, 10000, 120
TICKS = os.sysconf("SC_CLK_TCK")


def pass_time(until):
    threading.Event().wait(max(0, until - time.monotonic()))


def ticks_of(pid, with_ended):
    """Processor time of a process, and of children that it waited for."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(int(field) for field in fields[11:15 if with_ended else 13])


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def ticks_of_postgres(pid):
    total = ticks_of(pid, True)
    for child in children_of(pid):
        try:
            total += ticks_of(child, False)
        except OSError:
            pass  # ended meanwhile: it counts with its parent
    return total


class Page(threading.Thread):
    """One open overview; `times` are those of its refreshes, `messages` what it was told."""

    def __init__(self, address, number, pages, end):
        super().__init__()
        self.http = HttpClient(address)
        self.begin = time.monotonic() + PERIOD_S * number / pages
        self.end = end
        self.times = []
        self.messages = 0
        self.bytes = 0

    def ask_for_sparks(self, already, passed):
        due = SPARKS * passed / SPARKS_PERIOD_S
        while already < due:
            self.ask("GetMinuteStatistics", {"queue": f"queue-{already % SPARKS}"})
            already += 1
        return already

    def ask(self, method, body):
        answer = self.http.call(f"AdminService/{method}", body,
                                Accept_Encoding="gzip")
        assert answer.status == 200, answer.body
        return answer.body


class Asking(Page):
    def run(self):
        next_refresh, refreshes, sparks = self.begin, 0, 0
        while next_refresh < self.end:
            pass_time(next_refresh)
            begin = time.monotonic()
            body = self.ask("ListQueueSummaries", {"pageSize": 10000})
            self.times.append(time.monotonic() - begin)
            self.bytes = len(body)
            refreshes += 1
            sparks = self.ask_for_sparks(sparks, refreshes * PERIOD_S)
            next_refresh += PERIOD_S
        self.http.close()


class Watching(Page):
    def __init__(self, address, number, pages, end):
        super().__init__(address, number, pages, end)
        self.stream = HttpClient(address)
        self.reader = threading.Thread(target=self.read, daemon=True)

    def read(self):
        """Until the stream is cut."""
        self.stream.connection.request("POST", WATCH, envelope(b"{}"),
                                       {"Content-Type": STREAM_JSON})
        answer = self.stream.connection.getresponse()
        try:
            while True:
                flags, message = read_envelope(answer)
                assert flags == PLAIN, message
                self.messages += 1
                self.bytes += len(message)
        except (OSError, ValueError, AttributeError, struct.error, HTTPException):
            pass

    def run(self):
        pass_time(self.begin)
        self.reader.start()
        sparks, passed = 0, 0
        while time.monotonic() < self.end:
            passed += PERIOD_S
            sparks = self.ask_for_sparks(sparks, passed)
            pass_time(min(self.begin + passed, self.end))
        self.stream.connection.sock.shutdown(socket.SHUT_RDWR)
        self.reader.join()
        self.stream.close()
        self.http.close()


class Traffic(threading.Thread):
    """A task for each of the first queues, once a second."""

    def __init__(self, client, queues):
        super().__init__()
        self.client, self.queues = client, queues
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.wait(1):
            for number in range(self.queues):
                self.client.enqueue(f"queue-{number}")


def measure(broker, postgres, seconds, kind, pages):
    """Thousandths of a core, and the pages, which have ended."""
    threads = [kind(broker.http_address, number, pages, time.monotonic() + seconds)
               for number in range(pages)]
    begin = time.monotonic()
    before = ticks_of(broker.pid, False), ticks_of_postgres(postgres)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pass_time(begin + seconds)
    spent = time.monotonic() - begin
    after = ticks_of(broker.pid, False), ticks_of_postgres(postgres)
    return [round((b - a) / TICKS / spent * 1000, 1) for a, b in zip(before, after)], threads


def run(broker, database, client, arguments):
    for number in range(arguments.queues):
        client.create_queue(f"queue-{number}")
    with open(os.path.join(database.value("SHOW data_directory"), "postmaster.pid"),
              encoding="ascii") as file:
        postgres = int(file.readline())
    traffic = Traffic(client, arguments.busy)
    traffic.start()
    kind = Asking if arguments.asking else Watching
    idle, _ = measure(broker, postgres, arguments.seconds, kind, 0)
    busy, pages = measure(broker, postgres, arguments.seconds, kind, arguments.pages)
    traffic.is_over.set()
    traffic.join()
    found = {"pages": arguments.pages, "queues": arguments.queues, "busy": arguments.busy,
             "broker_idle": idle[0], "postgres_idle": idle[1],
             "broker": busy[0], "postgres": busy[1], "bytes": pages[0].bytes}
    if not arguments.asking:
        return {**found, "messages": pages[0].messages}
    times = sorted(1000 * one for page in pages for one in page.times)
    return {**found, "refreshes": len(times), "p50_ms": round(times[len(times) // 2], 1),
            "p99_ms": round(times[len(times) * 99 // 100], 1)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default, most in (("pages", 20, PAGES_MAX), ("queues", 2000, QUEUES_MAX),
                                ("seconds", 30, SECONDS_MAX)):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"at most {most}")
    parser.add_argument("--busy", type=int, default=0, help="at most as many as --queues")
    parser.add_argument("--asking", action="store_true")
    arguments = parser.parse_args()
    if not 0 <= arguments.busy <= arguments.queues:
        parser.error("--busy must be from 0 to --queues")
    for name, most in (("pages", PAGES_MAX), ("queues", QUEUES_MAX), ("seconds", SECONDS_MAX)):
        if not 0 < getattr(arguments, name) <= most:
            parser.error(f"--{name} must be from 1 to {most}")
    return arguments


def main():
    arguments = parse()
    with stage("--max-new-queues-per-minute=100000", "--address-share=100",
               http="127.0.0.1:0") as (broker, client, database):
        print(json.dumps(run(broker, database, client, arguments)))


if __name__ == "__main__":
    main()
