"""Brokers as the chart runs them: its job migrates, its settings serve, its probes are answered."""

import ssl
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import place  # noqa: F401  (first: it finds the modules below)
import manifests
import pod as pods
import values
from support.case import SystemTest, slow
from support.folder import Folder
from support.process import GENEROUS_S

SETTINGS = "/etc/skiplane/settings/skiplaned.conf"
HOST = "queue-skiplane.work.svc"
# kubelet looks at no certificate, and has none.
ANY = ssl._create_unverified_context()  # pylint: disable=protected-access


def setUpModule():  # pylint: disable=invalid-name
    manifests.build()


@slow
class ChartBrokers(SystemTest):
    is_migrated = False

    @classmethod
    def setUpClass(cls):
        folder = Folder()
        cls.addClassCleanup(folder.remove)
        made = pods.certificates(folder, HOST, "probe")
        cls.certificate = {"tls.crt": made["broker.crt"], "tls.key": made["broker.key"]}
        cls.authority = {"ca.crt": made["ca.crt"]}
        cls.probe = {"tls.crt": made["probe.crt"], "tls.key": made["probe.key"], **cls.authority}

    def mounted(self, template):
        """The pod with its files, and its container."""
        [container] = template["spec"]["containers"]
        made = pods.Pod("/etc/skiplane")
        self.addCleanup(made.remove)
        for file in pods.mount(template, container, self.given):
            made.add(*file)
        return made, container

    def serve(self, given_values):
        """A broker of the chart, whose probes then are answered."""
        chart = manifests.Chart(given_values)
        uri = {"uri": self.database.broker_uri, "address": self.database.broker_uri}
        self.given = {
            "queue-skiplane": chart.one("ConfigMap")["data"],
            "queue-skiplane-database": uri, "queue-skiplane-migrate": uri, "the-database": uri,
            "the-certificate": self.certificate, "the-authority": self.authority,
            "the-probe": self.probe,
            "the-tokens": {"tokens": "shop sha256:" + "0" * 64 + "\n"},
        }
        job, migration = self.mounted(chart.one("Job")["spec"]["template"])
        pods.run_program(self, job.command(["/usr/bin/skiplaned", *migration["args"]]))
        pod, container = self.mounted(chart.one("Deployment")["spec"]["template"])
        self.assertEqual(container["args"], ["--config", SETTINGS])
        said = pods.run_program(self, pod.command(["/usr/bin/skiplaned", "check-config",
                                                   *container["args"]]))
        self.assertNotIn("warning", said)
        broker = pod.start(SETTINGS)
        self.addCleanup(broker.end)
        for name in ("startup", "readiness", "liveness"):
            self.await_probe(pod, broker, container[f"{name}Probe"])
        return broker

    def await_probe(self, pod, broker, probe):
        """As kubelet does, again and again."""
        end = time.monotonic() + GENEROUS_S
        while not self.succeeds(pod, broker, probe):
            self.assertLess(time.monotonic(), end, f"{probe}\n{broker.output}")
            self.assertTrue(broker.runs_for(0.1), broker.output)

    def succeeds(self, pod, broker, probe):
        if "exec" in probe:
            words = [word.replace("127.0.0.1:7070", broker.address)
                     for word in probe["exec"]["command"]]
            done = subprocess.run(pod.command(words), check=False, capture_output=True,
                                  timeout=GENEROUS_S)
            self.assertIn(done.returncode, (0, 1), done.stderr)  # and not for a wrong option
            return done.returncode == 0
        scheme = probe["httpGet"]["scheme"].lower()
        address = f"{scheme}://{broker.http_address}{probe['httpGet']['path']}"
        try:
            with urllib.request.urlopen(address, context=ANY, timeout=GENEROUS_S) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as error:
            self.assertEqual(error.code, 503)
            return False

    def test_for_everybody(self):
        self.assertIn(" access=open ", self.serve(values.OPEN).output)

    def test_with_tokens(self):
        broker = self.serve(values.TOKENS)
        self.assertRegex(broker.output, " dashboard=https://.* access=tokens,rules ")
        self.assertEqual(broker.terminate(), 0)

    def test_with_certificates(self):
        broker = self.serve(values.CERTIFICATES)
        with self.assertRaises(OSError) as refused:  # who has none, in the handshake
            urllib.request.urlopen(f"https://{broker.http_address}/healthz", context=ANY,
                                   timeout=GENEROUS_S)
        self.assertNotIsInstance(refused.exception, urllib.error.HTTPError)

    def test_settings_that_the_broker_does_not_know_are_found(self):
        with self.assertRaisesRegex(AssertionError, "no-such-flag"):
            self.serve({**values.OPEN, "settings": {"no-such-flag": 1}})


if __name__ == "__main__":
    unittest.main()
