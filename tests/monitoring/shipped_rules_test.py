"""The rules that are shipped are sound by Prometheus' own tool, and each alert is tested, is fired
by a test, and is explained."""

import glob
import os
import re
import subprocess
import unittest

import place
import alerts_brokers_test
import alerts_database_test
import alerts_queues_test
import prometheus

ALERT = re.compile(r"(?m)^ +- alert: (\w+)$")
RUNBOOK_URL = re.compile(r"(?m)^ +runbook_url: (\S+)$")


def alerts():
    return ALERT.findall(prometheus.shipped("alerting.rules.yml"))


def runbook():
    with open(os.path.join(place.ROOT, "docs", "RUNBOOK.md"), encoding="utf-8") as file:
        return file.read()


class Rules(unittest.TestCase):
    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *arguments], cwd=prometheus.SHIPPED, check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
    def test_promtool_accepts_them(self):
        self.promtool("check", "config", "--lint=all", "--lint-fatal", "prometheus.yml")
        self.promtool("check", "rules", "--lint=all", "--lint-fatal", *prometheus.RULES)

    @unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
    def test_they_say_what_their_tests_expect(self):
        tests = glob.glob(os.path.join(prometheus.SHIPPED, "*_test.yml"))
        self.assertGreater(len(tests), 3)
        self.promtool("test", "rules", *tests)

    def test_each_alert_is_tested_by_promtool(self):
        for alert in alerts():
            with self.subTest(alert):
                named = [name for name in glob.glob(f"{prometheus.SHIPPED}/*_test.yml")
                         if f"  - name: {alert}\n" in prometheus.shipped(os.path.basename(name))]
                self.assertEqual(len(named), 1)

    def test_each_alert_is_fired_by_its_cause(self):
        fired = {alert for case in (alerts_brokers_test.Brokers, alerts_queues_test.Queues,
                                    alerts_database_test.OneDatabase)
                 for alert, _ in case.EXPECTED}
        self.assertEqual(fired, set(alerts()))

    def test_each_alert_leads_to_its_entry_of_the_runbook(self):
        text = prometheus.shipped("alerting.rules.yml")
        entries = re.findall(r"(?m)^## (\w+)$", runbook())
        self.assertEqual(entries, alerts())
        self.assertEqual([url.partition("#")[2] for url in RUNBOOK_URL.findall(text)],
                         [entry.lower() for entry in entries])


if __name__ == "__main__":
    unittest.main()
