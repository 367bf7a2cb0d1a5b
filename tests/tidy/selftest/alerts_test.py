import unittest

from planted import Planted
from rules import alerts

METRICS = ("| name | type | labels | meaning |\n|---|---|---|---|\n"
           "| `skiplane_ready` | gauge | | x |\n| `skiplane_lag_seconds` | histogram | | x |\n")


class Alerts(Planted):
    rule = alerts

    def check(self, condition):
        document = f"# Operations\n\n## Metrics and alerts\n\n| late | {condition} |\n\n## More\n"
        return alerts.check({"docs/OPERATIONS.md": document, "docs/METRICS.md": METRICS})

    def test_an_alert_of_a_metric_that_exists_is_clean(self):
        for condition in ("`skiplane_ready == 0`", "`rate(skiplane_lag_seconds_bucket[5m])`"):
            self.assertEqual(self.check(condition), [])

    def test_an_alert_of_a_metric_that_does_not_exist_is_caught(self):
        for name in ("skiplane_redy", "skiplane_ready_count", "skiplane_lag_seconds"):
            with self.subTest(name):
                self.assertEqual(self.check(f"`{name} == 0`"), [
                    f"docs/OPERATIONS.md:5: `{name}` is no series of docs/METRICS.md"])

    def test_a_rule_or_a_dashboard_of_a_metric_that_does_not_exist_is_caught(self):
        for path in ("deploy/prometheus/alerting.rules.yml", "deploy/grafana/queue.json"):
            with self.subTest(path):
                text = "# x\n sum(skiplane_ready) > job:skiplane_redy:sum and skiplane_redy"
                self.assertEqual(alerts.check({path: text, "docs/METRICS.md": METRICS}), [
                    f"{path}:2: `skiplane_redy` is no series of docs/METRICS.md"])


if __name__ == "__main__":
    unittest.main()
