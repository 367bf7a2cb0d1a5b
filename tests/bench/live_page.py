#!/usr/bin/python3
"""What the page of all queues costs the browser that shows it, while some of them get a task each
second: how soon it is drawn, tasks of its main thread that take more than 50 ms, and how long it
takes until what somebody does is seen.

    build/tests/support/with_postgres tests/bench/live_page.py --queues 2000 --busy 100

SKIPLANE_BUILD_DIR names a build for release; figures of another say nothing. One broker, on a
database of its own, one Chromium; a line of JSON goes to standard output."""

import argparse
import json
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault("SKIPLANE_BUILD_DIR", os.path.join(ROOT, "build"))
for folder in ("system", "dashboard"):
    sys.path.insert(0, os.path.join(ROOT, "tests", folder))

from browser import place  # noqa: E402,F401  first: it leads to the modules below
from browser.chrome import Chrome  # noqa: E402
from browser.page import Page  # noqa: E402
from open_pages import Traffic, pass_time  # noqa: E402
from support.stage import stage  # noqa: E402

SEEN_MS = 16  # the browser tells of no interaction that is shorter
ROUNDS = 5
COLUMNS = ("Ready", "Queue", "Leased", "Failed")
NOTE = """
    window.seen = {tasks: [], interactions: {}};
    const watch = (type, tell) => new PerformanceObserver(
      (list) => list.getEntries().forEach(tell)).observe(
      {type, buffered: true, durationThreshold: SEEN});
    watch("longtask", (one) => seen.tasks.push(one.duration));
    watch("event", (one) => {
      if (!one.interactionId) return;
      seen.interactions[one.interactionId] =
        Math.max(seen.interactions[one.interactionId] ?? 0, one.duration);
    });""".replace("SEEN", str(SEEN_MS))


def act(page):
    """How many interactions these were."""
    for _ in range(ROUNDS):
        for column in COLUMNS:
            page.click(column)
        page.click("Next page")
        page.click("Back")
        page.fill("Filter by name", "queue-1")
        page.fill("Filter by name", "")
    return ROUNDS * (len(COLUMNS) + 2 + len("queue-1"))


def take_tasks(page):
    tasks = page.run("return seen.tasks.splice(0)")
    return {"long_tasks": len(tasks), "longest_ms": round(max(tasks, default=0))}


def run(broker, client, chrome, arguments):
    for number in range(arguments.queues):
        client.create_queue(f"queue-{number}")
    traffic = Traffic(client, arguments.busy)
    traffic.start()
    try:
        chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOTE})
        page = Page(chrome, f"http://{broker.http_address}/dashboard/")
        page.open()
        page.until(lambda: page.count("tbody .spark svg"), "rows and curves")
        drawn = page.run("return performance.getEntriesByName('first-contentful-paint')[0]"
                         ".startTime")
        loading = take_tasks(page)
        pass_time(time.monotonic() + arguments.seconds)
        live = take_tasks(page)
        done = act(page)
        times = sorted(page.run("return Object.values(seen.interactions)"))
        times = [SEEN_MS] * (done - len(times)) + times
        return {"queues": arguments.queues, "busy": arguments.busy,
                "first_paint_ms": round(drawn), "loading": loading, "live": live,
                "acting": take_tasks(page), "interactions": len(times),
                "p75_ms": times[len(times) * 3 // 4], "most_ms": times[-1]}
    finally:
        traffic.is_over.set()
        traffic.join()


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default, most in (("queues", 2000, 10000), ("busy", 100, 1000), ("seconds", 30, 120)):
        parser.add_argument(f"--{name}", type=int, default=default, choices=range(1, most + 1),
                            metavar="N", help=f"at most {most}")
    return parser.parse_args()


def main():
    arguments = parse()
    with stage("--max-new-queues-per-minute=100000", "--address-share=100", "--dashboard",
               http="127.0.0.1:0") as (broker, client, _):
        chrome = Chrome()
        try:
            print(json.dumps(run(broker, client, chrome, arguments)))
        finally:
            chrome.quit()


if __name__ == "__main__":
    main()
