"""The two brokers of the compose file, with its settings, secrets and rules: they serve, their
health check says so, and each caller does its own work."""

import json
import os
import unittest

import place
import compose_test
import manifests
import pod as pods
from support import cli, document
from support.case import SystemTest, slow

SETTINGS = "/etc/skiplane/skiplaned.conf"


def setUpModule():  # pylint: disable=invalid-name
    manifests.build()


def health_check():
    """The command of the image, which the compose file leaves as it is."""
    [check] = [rest for word, rest in place.instructions() if word == "HEALTHCHECK"]
    return json.loads(check[check.index("["):])


@slow
class ComposeBrokers(SystemTest):
    is_migrated = False

    @classmethod
    def setUpClass(cls):
        cls.secrets = compose_test.make_secrets(cls)
        cls.services = manifests.compose()["services"]

    def container(self, name):
        """Its files, as it sees them."""
        service = self.services[name]
        made = pods.Pod("/etc/skiplane", "/run/secrets")
        self.addCleanup(made.remove)
        for one in service["volumes"]:
            made.add(one["target"], place.read(one["source"]))
        for one in service["secrets"]:
            text = place.read(os.path.join(self.secrets, one["source"]))
            if one["source"] == "database":
                self.assertRegex(text, r"^postgresql://skiplane:\w{64}@postgres/skiplane$")
                text = self.database.broker_uri
            made.add(one["target"], text)
        return made

    def start_container(self, name):
        made, service = self.container(name), self.services[name]
        self.assertEqual(service["command"], ["--config", SETTINGS])
        checked = pods.run_program(self, made.command(["/usr/bin/skiplaned", "check-config",
                                                      *service["command"]]))
        self.assertIn("the settings are right", checked)
        broker = made.start(SETTINGS)
        self.addCleanup(broker.end)
        port = broker.address.rsplit(":", 1)[1]
        here = {key: made.here(value).replace("7070", port)
                for key, value in service["environment"].items()}
        self.assertNotEqual(here["SKIPLANE_TLS_CA"], service["environment"]["SKIPLANE_TLS_CA"])
        broker.check_health = lambda: pods.run_program(self, made.command(health_check()), **here)
        return broker

    def test_callers_do_their_work_as_the_document_says(self):
        running = [self.start_container(name) for name in compose_test.BROKERS]
        code = document.commands("docs/CONTAINERS.md", "Compose", 1)
        for port, broker in zip((7070, 7071), running):
            self.assertIn(f"localhost:{port}", code)
            code = code.replace(f"localhost:{port}", "localhost:" + broker.address.split(":")[1])
        code += "! as worker enqueue orders-new 18\n"
        path = os.pathsep.join([os.path.dirname(cli.program()), os.environ["PATH"]])
        said = pods.run_program(
            self, ["bash", "-euc", code.replace("secrets/", self.secrets + "/")], PATH=path)
        self.assertIn("ACCESS_DENIED", said)
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.history"), 1)
        for broker in running:
            self.assertIn("serving", broker.check_health())

    def test_the_dashboard_has_a_token(self):
        broker = self.start_container("broker-1")
        port = broker.address.rsplit(":", 1)[1]
        said = pods.run_program(self, [
            cli.program(), f"--broker=localhost:{port}", f"--tls-ca={self.secrets}/ca.crt",
            f"--token-file={self.secrets}/dashboard.token", "whoami"])
        self.assertIn("token:dashboard", said)
        self.assertRegex(broker.output, " dashboard=https://")


if __name__ == "__main__":
    unittest.main()
