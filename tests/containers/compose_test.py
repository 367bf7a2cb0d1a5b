"""deploy/container/compose.yaml is what Docker Compose takes, keeps to itself what it should, and
names what is there."""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import place
import manifests
from support.case import SystemTest, slow

BROKERS = ("broker-1", "broker-2")


def setUpModule():  # pylint: disable=invalid-name
    manifests.build()


def make_secrets(case):
    """In a copy of the folder: the path of the secrets."""
    folder = tempfile.TemporaryDirectory()
    case.addClassCleanup(folder.cleanup)
    for name in ("container", "example-mtls"):
        shutil.copytree(os.path.join(place.ROOT, "deploy", name), os.path.join(folder.name, name),
                        ignore=shutil.ignore_patterns("secrets"))
    made = os.path.join(folder.name, "container", "secrets")
    os.mkdir(made, 0o755)  # all files in it can be read by all
    for _ in range(2):  # the second time it keeps what is there
        before = {path: os.stat(path).st_mtime_ns for path in glob.glob(f"{made}/*")}
        subprocess.run([os.path.join(folder.name, "container", "make-secrets")], check=True,
                       capture_output=True)
    assert before == {path: os.stat(path).st_mtime_ns for path in before}
    assert os.stat(made).st_mode & 0o777 == 0o700
    return made


@slow
class Compose(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.secrets = make_secrets(cls)
        cls.project = manifests.compose()
        cls.services = cls.project["services"]

    def mounts(self, name):
        """Of what it mounts from here: the place in the container, and the path here."""
        return {one["target"]: one["source"] for one in self.services[name]["volumes"]
                if one["type"] == "bind"}

    def test_it_has_two_brokers_and_what_they_and_people_need(self):
        self.assertEqual(set(self.services), {*BROKERS, "postgres", "prometheus", "grafana"})
        for name in BROKERS:
            self.assertEqual(self.services[name]["image"], f"localhost/skiplane:{place.version()}")

    def test_every_container_has_few_rights(self):
        for name, service in self.services.items():
            with self.subTest(name):
                self.assertIs(service["read_only"], True)
                self.assertEqual(service["cap_drop"], ["ALL"])
                self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
                self.assertNotIn("cap_add", service)
                self.assertNotIn("privileged", service)

    def test_other_machines_reach_no_port(self):
        published = [port for service in self.services.values()
                     for port in service.get("ports", ())]
        self.assertEqual(len(published), 6)
        self.assertEqual({port["host_ip"] for port in published}, {"127.0.0.1"})
        self.assertEqual(len({port["published"] for port in published}), 6)
        self.assertNotIn("ports", self.services["postgres"])
        self.assertIs(self.project["networks"]["database"]["internal"], True)

    def test_what_is_secret_is_in_files_only(self):
        held = {os.path.basename(one["file"]): name
                for name, one in self.project["secrets"].items()}
        self.assertLessEqual(set(held), set(os.listdir(self.secrets)))
        self.assertNotIn("ca.key", held)
        shown = json.dumps(self.project)
        for name in held:
            with open(os.path.join(self.secrets, name), encoding="ascii") as file:
                self.assertNotIn(file.readline().strip(), shown)
        for service in self.services.values():
            for name, value in (service.get("environment") or {}).items():
                if re.search("PASSWORD|TOKEN|KEY|SECRET", name):
                    self.assertRegex(value, "^/run/secrets/")

    def test_the_folder_of_secrets_is_for_its_owner_alone(self):
        self.assertEqual(os.stat(self.secrets).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(os.path.join(self.secrets, "ca.key")).st_mode & 0o777, 0o600)
        for one in self.project["secrets"].values():
            mode = os.stat(os.path.join(self.secrets, os.path.basename(one["file"]))).st_mode
            self.assertTrue(mode & 0o004, one)  # containers have other accounts

    def test_all_that_is_mounted_is_there(self):
        for name in self.services:
            for source in self.mounts(name).values():
                self.assertTrue(os.path.exists(source), source)
        self.assertIn("/etc/skiplane/skiplaned.conf", self.mounts("broker-1"))

    def test_brokers_have_the_time_that_they_drain(self):
        for name in BROKERS:
            self.assertEqual(self.services[name]["stop_grace_period"], "20s")

    def test_prometheus_scrapes_both_brokers_with_the_rules_that_are_shipped(self):
        found = manifests.yaml("deploy", "container", "prometheus.yml")
        [job] = found["scrape_configs"]
        self.assertRegex(job["job_name"], "^skiplane")
        settings = place.read("deploy", "container", "skiplaned.conf")
        port = re.search(r"(?m)^metrics-listen = .*:(\d+)$", settings).group(1)
        self.assertEqual(job["static_configs"][0]["targets"],
                         [f"{name}:{port}" for name in BROKERS])
        mounted = self.mounts("prometheus")
        for name in found["rule_files"]:
            self.assertEqual(mounted[f"/etc/prometheus/{name}"],
                             os.path.join(place.ROOT, "deploy", "prometheus", name))

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_prometheus_takes_its_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            for target, source in self.mounts("prometheus").items():
                shutil.copy(source, os.path.join(folder, os.path.basename(target)))
            done = subprocess.run(["promtool", "check", "config", "--lint=all", "--lint-fatal",
                                   os.path.join(folder, "prometheus.yml")], check=False,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_grafana_asks_that_prometheus_and_has_the_dashboards(self):
        [source] = manifests.yaml("deploy", "container", "grafana", "datasources.yaml")[
            "datasources"]
        host, port = source["url"].removeprefix("http://").split(":")
        self.assertIn(port, [str(one["target"]) for one in self.services[host]["ports"]])
        self.assertIn("callers", self.services[host]["networks"])
        [provider] = manifests.yaml("deploy", "container", "grafana", "dashboards.yaml")[
            "providers"]
        mounted = self.mounts("grafana")[provider["options"]["path"]]
        self.assertEqual(mounted, os.path.join(place.ROOT, "deploy", "grafana"))

    def test_a_key_that_compose_does_not_know_is_found(self):
        text = place.read("deploy", "container", "compose.yaml")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "compose.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("read_only:", "readonly:"))
            with self.assertRaisesRegex(manifests.Refused, "readonly"):
                manifests.run("compose", path)


@slow
class Database(SystemTest):
    """database.sql, with names of its own: accounts belong to the whole server."""

    def test_it_makes_an_account_that_owns_its_database_and_is_no_superuser(self):
        name = self.database.name + "_own"
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "skiplane-password"), "w", encoding="ascii") as file:
                file.write("it's $1\n")
            text = place.read("deploy", "container", "database.sql")
            text = text.replace("/run/secrets", folder)
            text = re.sub(r"\bskiplane\b(?!-)", name, text)
            self.addCleanup(self.drop, name)
            done = subprocess.run(
                ["psql", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", self.database.uri], input=text,
                check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            self.database.run("SELECT rolcanlogin, rolsuper, rolpassword LIKE 'SCRAM%' FROM"
                              f" pg_authid WHERE rolname = '{name}'"), [("t", "f", "t")])
        self.assertEqual(
            self.database.run("SELECT pg_get_userbyid(datdba), has_database_privilege('public',"
                              f" datname, 'CONNECT') FROM pg_database WHERE datname = '{name}'"),
            [(name, "f")])

    def drop(self, name):
        self.database.run(f"DROP DATABASE IF EXISTS {name}")
        self.database.run(f"DROP ROLE IF EXISTS {name}")


if __name__ == "__main__":
    unittest.main()
