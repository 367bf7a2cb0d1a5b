"""Measures a scrape of a broker with many queues, of which each has run a task: what it takes by
itself, and what Prometheus says of it. Run it by with_postgres; --help has more."""

import argparse
import concurrent.futures
import gzip
import os
import statistics
import time
import urllib.request

import place  # noqa: F401  (first: it finds the others)
from prometheus import Prometheus
from support.stage import stage


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queues", type=int, default=2000)
    parser.add_argument("--scrapes", type=int, default=20)
    return parser.parse_args()


def run_a_task(client, name):
    client.create_queue(name)
    client.enqueue(name)
    client.ack(*client.lease(name))


def scrape(broker, encoding):
    """The page as it is sent, and how long it took."""
    request = urllib.request.Request(f"http://{broker.metrics_address}/metrics",
                                     headers={"Accept-Encoding": encoding})
    begin = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        page = answer.read()
    return page, time.perf_counter() - begin


def tell(broker, encoding, times):
    scrapes = [scrape(broker, encoding) for _ in range(times)]
    page = scrapes[-1][0]
    text = gzip.decompress(page) if encoding == "gzip" else page
    series = sum(not line.startswith(b"#") for line in text.splitlines())
    taken = [seconds * 1000 for _, seconds in scrapes]
    print(f"{encoding}: {series} series, {len(page)} bytes, median "
          f"{statistics.median(taken):.0f} ms, longest {max(taken):.0f} ms")


def tell_prometheus(broker):
    server = Prometheus([broker])
    try:
        count = "count_over_time(scrape_duration_seconds[1m]) >= 10"
        server.await_that(lambda: server.query(count), lambda: "it does not scrape")
        [(_, seconds)] = server.query("avg_over_time(scrape_duration_seconds[1m])")
        [(_, series)] = server.query("scrape_samples_scraped")
        print(f"Prometheus: {series:.0f} series, {seconds * 1000:.0f} ms on average")
    finally:
        server.end()


def main():
    options = parse()
    with stage() as (broker, client, _):
        with concurrent.futures.ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda number: run_a_task(client, f"queue-{number:05}"),
                             range(options.queues)))
        before = broker.metrics()["process_cpu_seconds_total"]
        tell(broker, "identity", options.scrapes)
        tell(broker, "gzip", options.scrapes)
        after = broker.metrics()["process_cpu_seconds_total"]
        print(f"processor: {(after - before) / options.scrapes / 2 * 1000:.0f} ms a scrape, "
              f"resident: {broker.rss() >> 20} MiB, {os.cpu_count()} processors")
        tell_prometheus(broker)


if __name__ == "__main__":
    main()
