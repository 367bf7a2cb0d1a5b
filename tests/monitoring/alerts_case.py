"""The ground of the tests that fire alerts: a Prometheus with the rules that are shipped, whose
windows and bounds are as short as a test is. What is rewritten stands here, and nothing else is."""

from prometheus import Prometheus
from support.case import SystemTest
from support.folder import Folder

WINDOW_S = 6
RECORDING = {r"\[5m\]": f"[{WINDOW_S}s]"}
ALERTING = {
    r"for: \d+[mh]": "for: 1s",
    r"\[\d+[mh]\]": f"[{WINDOW_S}s]",
    # The bounds of single alerts.
    r"> 3$": "> 1.5",                   # failures of a chore
    r"> 600\b": "> 8",                  # the age of a chore's last run,
    r'chore!~"partitions\|token_keys"': 'chore="error_folder"',  # which is every 2 seconds
    r"> 5e6": "> 500",                  # dead rows
    r"> 100e9": "> 30e6",               # bytes of the database
    r"> 900\b": "> 3",                  # the age of a ready task
    r"> 60$": "> 0.5",                  # how late periodic tasks are
    r"> 3600\b": "> 3",                 # the age of an attempt
}
MULTILINE = "(?m)"
ABOUT = ("queue", "chore", "table", "reason", "sqlstate_class", "grpc_method", "grpc_status")


def start_with_certificate(case):
    """A broker of the case, whose certificate is valid for two days."""
    files = Folder()
    case.addCleanup(files.remove)
    files.make_pair("server")
    return case.start_broker(f"--tls-cert={files.path('server.crt')}",
                             f"--tls-key={files.path('server.key')}", is_awaited=False)


class AlertsTest(SystemTest):
    """`EXPECTED`: what fires, as pairs of an alert and what it is about; of a broker, its name in
    the test. `ALLOWED`: what may fire beside it, by the same causes."""

    EXPECTED = frozenset()
    ALLOWED = frozenset()

    def watch(self, **brokers):
        """With these brokers, by name. Until all is well, and nothing fires."""
        self.watched = brokers
        self.prometheus = Prometheus(brokers.values(), {
            "recording.rules.yml": RECORDING,
            "alerting.rules.yml": {MULTILINE + old: new for old, new in ALERTING.items()}})
        self.addCleanup(self.prometheus.end)
        self.prometheus.await_that(
            lambda: self.prometheus.query(f"count_over_time(up[{WINDOW_S}s]) >= 3"),
            lambda: "it does not scrape")
        self.assertEqual(self.fired(), set())

    def join(self, name, broker):
        """It is watched from now on, too. Prometheus then has connected to all of them anew."""
        self.watched[name] = broker
        self.prometheus.scrape(self.watched.values())
        scraped = f'count_over_time(up{{instance="{broker.metrics_address}"}}[{WINDOW_S}s]) >= 3'
        self.prometheus.await_that(lambda: self.prometheus.query(scraped),
                                   lambda: f"it does not scrape {name}")

    def fired(self):
        """All that has, since the start."""
        series = self.prometheus.query(
            'max_over_time(ALERTS{alertstate="firing"}[10m])')
        return {(labels["alertname"], self.about(labels)) for labels, _ in series}

    def about(self, labels):
        if "instance" in labels and "reason" not in labels:
            return next(name for name, broker in self.watched.items()
                        if broker.metrics_address == labels["instance"])
        return next((labels[name] for name in ABOUT if name in labels), "")

    def await_fired(self, *wanted, go_on=lambda: None):
        """Until these have, and no other that nobody expects; `go_on` keeps their cause up."""
        self.prometheus.await_that(
            lambda: set(wanted) <= self.fired(),
            lambda: f"{set(wanted) - self.fired()} did not fire, but {self.fired()}", go_on)
        self.assert_no_other()

    def assert_no_other(self):
        self.assertLessEqual(self.fired(), self.EXPECTED | self.ALLOWED)
