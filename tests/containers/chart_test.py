"""What deploy/helm makes of its values is what Kubernetes takes, and fits together."""

import copy
import json
import os
import re
import shutil
import tempfile
import unittest

import place
import manifests
import values
from support.case import slow


def setUpModule():  # pylint: disable=invalid-name
    manifests.build()


def changed(base, path, value):
    """The values with another one at a place such as `tls.secretName`."""
    result = copy.deepcopy(base)
    *folders, name = path.split(".")
    inner = result
    for folder in folders:
        inner = inner.setdefault(folder, {})
    inner[name] = value
    return result


@slow
class Chart(unittest.TestCase):
    def test_it_is_of_the_version_of_the_project(self):
        chart = manifests.Chart(values.OPEN)
        self.assertEqual((chart.version, chart.app_version), (place.version(), place.version()))
        for pod in chart.pods():
            self.assertEqual(pod["spec"]["containers"][0]["image"],
                             f"registry.example/skiplane:{place.version()}")

    def test_kubernetes_takes_whatever_the_values_make(self):
        kinds = [one["kind"] for one in manifests.Chart(values.TOKENS, values.EVERYTHING).objects]
        self.assertEqual(set(kinds), {
            "ConfigMap", "Secret", "Service", "Deployment", "Job", "PodDisruptionBudget",
            "NetworkPolicy", "ServiceMonitor", "PrometheusRule"})
        for given in (values.OPEN, values.TOKENS, values.CERTIFICATES,
                      changed(values.OPEN, "migration.enabled", False)):
            self.assertGreater(len(manifests.Chart(given).objects), 4)

    def test_what_kubernetes_does_not_take_is_found(self):
        for old, new in (("readinessProbe:", "readynessProbe:"), ("replicas:", "replicas: x\n  #"),
                         ("kind: Deployment", "kind: Deploymint")):
            with self.subTest(new), tempfile.TemporaryDirectory() as folder:
                chart = os.path.join(folder, "skiplane")
                shutil.copytree(place.CHART, chart)
                path = os.path.join(chart, "templates", "deployment.yaml")
                text = place.read(path)
                self.assertIn(old, text)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text.replace(old, new))
                with self.assertRaisesRegex(manifests.Refused, "deployment.yaml"):
                    manifests.Chart(values.OPEN, folder=chart)

    def test_values_that_do_not_belong_together_are_refused(self):
        for base, path, value, said in (
                ({}, "replicas", 1, "image.repository is empty"),
                (values.OPEN, "database.uri", "", "exactly one of secretName and uri"),
                (values.OPEN, "database.secretName", "one", "exactly one of secretName and uri"),
                (values.OPEN, "access.open", False, "nobody would have to prove"),
                (values.OPEN, "access.tokens", {"secretName": "one"}, "access.open says"),
                (values.TOKENS, "tls.secretName", "", "tls.secretName is empty"),
                (values.CERTIFICATES, "tls.probe", {}, "tls.probe.secretName is empty"),
                (values.TOKENS, "access.jwt.keys", "one", "needs access.jwt.issuer"),
                (values.TOKENS, "settings.listen", "[::]:7070", "settings.listen: the chart")):
            with self.subTest(said), self.assertRaisesRegex(manifests.Refused, said):
                manifests.Chart(changed(base, path, value))

    def test_values_that_nobody_reads_are_refused(self):
        for path, value in (("replica", 2), ("image.digset", ""), ("replicas", "two"),
                            ("tls.clientCertificate", "maybe"), ("settings.--listen", "x"),
                            ("database.uri", "mysql://db")):
            with self.subTest(path), self.assertRaisesRegex(manifests.Refused, "schema"):
                manifests.Chart(changed(values.OPEN, path, value))

    def test_what_is_secret_is_in_secrets_only(self):
        chart = manifests.Chart(values.TOKENS, values.EVERYTHING)
        holders = [one["kind"] for one in chart.objects if values.SECRET in json.dumps(one)]
        self.assertEqual(holders, ["Secret", "Secret"])
        self.assertNotIn(values.SECRET, chart.notes)

    def test_the_values_of_the_document_are_taken(self):
        text = place.read("docs", "CONTAINERS.md")
        blocks = re.findall(r"(?ms)^```yaml\n(.*?)^```", text)
        self.assertEqual(len(blocks), 2)
        for block in blocks:
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".yaml") as file:
                file.write(block)
                file.flush()
                self.assertTrue(manifests.run("chart", place.CHART, file.name)["objects"])

    def test_the_notes_warn_of_what_is_open(self):
        self.assertIn("may do everything", manifests.Chart(values.OPEN).notes)
        self.assertIn("access.rules is empty", manifests.Chart(values.CERTIFICATES).notes)
        self.assertNotIn("everything", manifests.Chart(values.TOKENS).notes)


@slow
class Objects(unittest.TestCase):
    """Of everything that the chart can make."""

    @classmethod
    def setUpClass(cls):
        cls.chart = manifests.Chart(values.TOKENS, values.EVERYTHING)
        cls.pod = cls.chart.one("Deployment")["spec"]["template"]
        [cls.container] = cls.pod["spec"]["containers"]
        cls.ports = {port["name"]: port["containerPort"] for port in cls.container["ports"]}

    def test_a_caller_by_http_may_use_each_name_of_each_service(self):
        [settings] = [one["data"]["skiplaned.conf"] for one in self.chart.all("ConfigMap")
                      if "skiplaned.conf" in one["data"]]
        hosts = re.search("(?m)^http-host = (.*)$", settings).group(1).split(",")
        for service in (one for one in self.chart.objects if one["kind"] == "Service"):
            if "http" in [port["name"] for port in service["spec"]["ports"]]:
                name = f"{service['metadata']['name']}.work.svc"
                self.assertLessEqual({name, f"{name}.cluster.local"}, set(hosts))

    def test_pods_have_few_rights(self):
        for pod in self.chart.pods():
            spec = pod["spec"]
            self.assertIs(spec["automountServiceAccountToken"], False)
            account = spec["securityContext"]
            self.assertIs(account["runAsNonRoot"], True)
            self.assertEqual(account["seccompProfile"], {"type": "RuntimeDefault"})
            self.assertEqual({f"{account['runAsUser']}:{account['runAsGroup']}"},
                             {rest for word, rest in place.instructions() if word == "USER"})
            for container in spec["containers"]:
                self.assertEqual(container["securityContext"], {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]}})

    def test_the_migration_comes_before_everything_with_a_secret_of_its_own(self):
        job = self.chart.one("Job")
        hooks = [job, *(one for one in self.chart.all("Secret")
                        if "annotations" in one["metadata"])]
        self.assertEqual(len(hooks), 2)
        for one in hooks:
            self.assertEqual(one["metadata"]["annotations"]["helm.sh/hook"],
                             "pre-install,pre-upgrade")
        weights = [int(one["metadata"]["annotations"]["helm.sh/hook-weight"]) for one in hooks]
        self.assertGreater(*weights)
        pod = job["spec"]["template"]["spec"]
        self.assertEqual(pod["volumes"][0]["secret"]["secretName"], hooks[1]["metadata"]["name"])
        self.assertIn("owner:", hooks[1]["stringData"]["uri"])
        self.assertEqual(pod["containers"][0]["args"][0], "migrate")

    def test_each_selector_finds_the_brokers_and_not_the_job(self):
        selectors = [one["spec"]["selector"] for one in self.chart.all("Service")]
        selectors += [self.chart.one(kind)["spec"]["selector"]["matchLabels"]
                      for kind in ("Deployment", "PodDisruptionBudget")]
        selectors.append(self.chart.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"])
        job = self.chart.one("Job")["spec"]["template"]["metadata"]["labels"].items()
        for selector in selectors:
            self.assertLessEqual(selector.items(), self.pod["metadata"]["labels"].items())
            self.assertFalse(selector.items() <= job)

    def test_every_port_that_is_named_is_there(self):
        named = {port["targetPort"] for one in self.chart.all("Service")
                 for port in one["spec"]["ports"]}
        named |= {port["port"] for rule in self.chart.one("NetworkPolicy")["spec"]["ingress"]
                  for port in rule["ports"]}
        named |= {self.container[f"{probe}Probe"]["httpGet"]["port"]
                  for probe in ("startup", "readiness", "liveness")}
        self.assertEqual(named, set(self.ports))
        [settings] = [one["data"]["skiplaned.conf"] for one in self.chart.all("ConfigMap")
                      if "skiplaned.conf" in one["data"]]
        for name, flag in (("grpc", "listen"), ("http", "http-listen"),
                           ("metrics", "metrics-listen")):
            self.assertIn(f"{flag} = 0.0.0.0:{self.ports[name]}", settings.splitlines())

    def test_a_broker_gets_the_time_that_it_drains(self):
        for pause, drain in ((5, 8), (60, 300)):
            chart = manifests.Chart(values.OPEN, {"drain": {"pauseSeconds": pause,
                                                            "timeoutSeconds": drain}})
            spec = chart.one("Deployment")["spec"]["template"]["spec"]
            self.assertEqual(spec["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"],
                             pause)
            # What OPERATIONS.md says of a database that does not answer.
            self.assertGreaterEqual(spec["terminationGracePeriodSeconds"], pause + drain + 11)

    def test_prometheus_finds_each_broker_by_one_service(self):
        monitor = self.chart.one("ServiceMonitor")
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        [service] = [one for one in self.chart.all("Service")
                     if wanted <= one["metadata"]["labels"].items()]
        self.assertEqual(service["spec"]["clusterIP"], "None")
        [endpoint] = monitor["spec"]["endpoints"]
        self.assertIn(endpoint["port"], [port["name"] for port in service["spec"]["ports"]])
        [relabeling] = endpoint["relabelings"]
        self.assertEqual(relabeling["targetLabel"], "job")
        self.assertRegex(relabeling["replacement"], "^skiplane.*queue")

    def test_rules_and_dashboards_are_those_that_are_shipped(self):
        shipped = [group for name in ("recording", "alerting") for group in
                   manifests.yaml("deploy", "prometheus", f"{name}.rules.yml")["groups"]]
        self.assertEqual(self.chart.one("PrometheusRule")["spec"]["groups"], shipped)
        found = {}
        for one in self.chart.all("ConfigMap"):
            if "grafana_dashboard" in one["metadata"]["labels"]:
                found |= one["data"]
        names = os.listdir(os.path.join(place.ROOT, "deploy", "grafana"))
        self.assertEqual({name: json.loads(text) for name, text in found.items()},
                         {f"skiplane-{name}": json.loads(place.read("deploy", "grafana", name))
                          for name in names})


if __name__ == "__main__":
    unittest.main()
