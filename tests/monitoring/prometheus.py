"""Debian's Prometheus on a port of its own, with the configuration and the rules that are shipped,
which look more often than they say."""

import json
import os
import re
import shutil
import tempfile
import time
import urllib.parse
import urllib.request

from place import ROOT
from support.broker import listen_where_nobody_is_put
from support.process import GENEROUS_S, Process

SHIPPED = os.path.join(ROOT, "deploy", "prometheus")
RULES = ("recording.rules.yml", "alerting.rules.yml")
IS_INSTALLED = shutil.which("prometheus") is not None
POLL_S = 0.2  # it looks at nothing more often
WHY_NOT = "Prometheus is not installed (Debian package prometheus)"


def shipped(name):
    with open(os.path.join(SHIPPED, name), encoding="utf-8") as file:
        return file.read()


def replaced(text, changes):
    """With each text of `changes` in place of its key, which must be there."""
    for old, new in changes.items():
        if not re.search(old, text):
            raise AssertionError(f"nothing to replace: {old}")
        text = re.sub(old, new, text)
    return text


def free_port():
    with listen_where_nobody_is_put() as taken:
        return taken.getsockname()[1]


class Prometheus(Process):
    """Returns from its constructor when it answers. `changes`: of the rules, by file."""

    def __init__(self, brokers, changes=None):
        self._folder = tempfile.TemporaryDirectory(prefix="skiplane-prometheus-")
        for name in RULES:
            self._write(name, replaced(shipped(name), (changes or {}).get(name, {})))
        self._configure(brokers)
        self.address = f"127.0.0.1:{free_port()}"
        super().__init__(
            ["prometheus", f"--config.file={self._path('prometheus.yml')}",
             f"--storage.tsdb.path={self._path('data')}", "--web.enable-lifecycle",
             f"--web.listen-address={self.address}"])
        try:
            self.wait_for_output("Server is ready to receive web requests")
        except BaseException:
            self.end()
            raise

    def scrape(self, brokers):
        """From now on these, and no others."""
        self._configure(brokers)
        self._open("/-/reload", data=b"")

    def query(self, expression):
        """Its series now, as pairs of labels and value."""
        answer = self.get("query", query=expression)
        return [(series["metric"], float(series["value"][1])) for series in answer["result"]]

    def values(self, expression, label):
        """Its series now, as a value per label."""
        return {labels.get(label, ""): value for labels, value in self.query(expression)}

    def get(self, path, **arguments):
        with self._open(f"/api/v1/{path}?{urllib.parse.urlencode(arguments)}") as answer:
            return json.load(answer)["data"]

    def await_that(self, holds, why, go_on=lambda: None):
        """Looks again and again until `holds()`, and returns that."""
        end = time.monotonic() + GENEROUS_S
        while not (found := holds()):
            if not self.runs_for(POLL_S):
                raise AssertionError(self.output)
            if time.monotonic() > end:
                raise AssertionError(why())
            go_on()
        return found

    def end(self):
        super().end()
        self._folder.cleanup()

    def _open(self, path, data=None):
        return urllib.request.urlopen(f"http://{self.address}{path}", data, timeout=GENEROUS_S)

    def _configure(self, brokers):
        targets = ", ".join(f'"{broker.metrics_address}"' for broker in brokers)
        self._write("prometheus.yml", replaced(shipped("prometheus.yml"), {
            r"interval: 15s": "interval: 1s", r'"127\.0\.0\.1:9464"': targets}))

    def _path(self, name):
        return os.path.join(self._folder.name, name)

    def _write(self, name, text):
        with open(self._path(name), "w", encoding="utf-8") as file:
            file.write(text)
