"""The dashboards that are shipped: each of their queries is answered with data by a Prometheus that
scrapes two brokers at work, and each panel says what it shows."""

import contextlib
import glob
import json
import math
import os
import re
import unittest

import place
import grpc
import prometheus
from alerts_case import RECORDING, WINDOW_S, start_with_certificate
from prometheus import Prometheus
from support.case import SystemTest, slow
from support.client import seconds

FOLDER = os.path.join(place.ROOT, "deploy", "grafana")
QUEUE, FULL = "video", "full"
VARIABLES = {"$job": "skiplane", "$queue": QUEUE, "$__rate_interval": f"{WINDOW_S}s"}
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
METRIC = re.compile(r"\b(?:[a-z]+:\w+:\w+|(?:skiplane|grpc_server|process)_\w+)")


def dashboards():
    found = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        with open(path, encoding="utf-8") as file:
            found[os.path.basename(path)] = json.load(file)
    return found


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def filled(text):
    for name, value in VARIABLES.items():
        text = text.replace(name, value)
    return text


class Dashboards(unittest.TestCase):
    def test_there_are_three_with_places_of_their_own(self):
        self.assertEqual(list(dashboards()), ["brokers.json", "overview.json", "queue.json"])
        self.assertEqual(len({each["uid"] for each in dashboards().values()}), 3)

    def test_each_panel_says_what_it_shows_and_in_which_unit(self):
        for name, dashboard in dashboards().items():
            ids = [panel["id"] for panel in dashboard["panels"]]
            self.assertEqual(len(ids), len(set(ids)), name)
            for panel in panels(dashboard):
                with self.subTest(name, panel=panel["title"]):
                    self.assertTrue(panel["description"].endswith("."))
                    self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                    self.assertEqual(panel["datasource"]["uid"], "${datasource}")

    def test_no_panel_lies_on_another(self):
        for name, dashboard in dashboards().items():
            taken = set()
            for panel in dashboard["panels"]:
                [at] = [value for value in panel.values()
                        if isinstance(value, dict) and "w" in value]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                         for y in range(at["y"], at["y"] + at["h"])}
                self.assertFalse(cells & taken, (name, panel["title"]))
                self.assertLessEqual(at["x"] + at["w"], 24, (name, panel["title"]))
                taken |= cells


@slow
@unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
class Queries(SystemTest):
    def setUp(self):
        super().setUp()
        brokers = [self.start_broker() for _ in range(2)]
        self.clients = [self.client_of(broker) for broker in brokers]
        self.clients[0].create_queue(QUEUE, stages=[{"name": "cut"}, {"name": "mix"}])
        self.clients[0].create_queue(FULL, max_depth=1)
        self.refuse_changes_by_operators()
        for number in range(200):
            self.clients[0].enqueue(QUEUE, key=str(number), period=seconds(3600))
        brokers.append(start_with_certificate(self))  # which has a metric more
        self.prometheus = Prometheus(brokers, {"recording.rules.yml": RECORDING})
        self.addCleanup(self.prometheus.end)

    def refuse_changes_by_operators(self):
        """So that there are errors of the database to show."""
        self.database.run(
            "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE 'not today'; END $$;"
            "CREATE TRIGGER refuse BEFORE INSERT ON skiplane.audit FOR EACH STATEMENT"
            " EXECUTE FUNCTION public.refuse()")
        with self.assertRaises(grpc.RpcError):
            self.clients[0].pause(QUEUE)

    def work(self):
        for client in self.clients:
            client.enqueue_all(QUEUE, [{}, {}])
            done, failed = (task for _ in range(2)
                            for task in client.lease(QUEUE, stage="cut", worker_id="w"))
            client.ack(done)
            client.nack(failed, "FAIL")
            with contextlib.suppress(grpc.RpcError):
                client.enqueue(FULL)

    def has_data(self, query):
        return any(math.isfinite(value) for _, value in self.prometheus.query(filled(query)))

    def test_each_is_answered_with_data(self):
        queries = {target["expr"] for dashboard in dashboards().values()
                   for panel in panels(dashboard) for target in panel["targets"]}
        self.assertGreater(len(queries), 50)
        left = set(queries)

        def is_over():
            left.difference_update([query for query in left if self.has_data(query)])
            return not left
        self.prometheus.await_that(is_over, lambda: f"no data: {left}", self.work)
        self.check_variables()
        self.check_metrics()

    def check_variables(self):
        """What one may choose is there to be chosen."""
        for name, dashboard in dashboards().items():
            for variable in dashboard["templating"]["list"][1:]:
                metric, label = LABEL_VALUES.fullmatch(variable["query"]).groups()
                found = self.prometheus.values(filled(metric), label)
                self.assertIn(VARIABLES[f"${variable['name']}"], found, name)

    def check_metrics(self):
        """What a rule or a dashboard names exists; a name that does not is never missed."""
        known = set(self.prometheus.get("label/__name__/values"))
        texts = {name: prometheus.shipped(name) for name in prometheus.RULES}
        texts.update((name, json.dumps(each)) for name, each in dashboards().items())
        for name, text in texts.items():
            named = set(METRIC.findall(text))
            self.assertGreater(len(named), 10, name)
            self.assertLessEqual(named, known, name)


if __name__ == "__main__":
    unittest.main()
