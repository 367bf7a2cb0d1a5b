"""What a container of the chart, or of the compose file, sees of files, in a folder of this
machine."""

import os
import subprocess

import place
from support import broker as brokers
from support import cli
from support.folder import Folder
from support.process import GENEROUS_S

PROGRAMS = {"/usr/bin/skiplaned": brokers.program, "/usr/bin/skiplane": cli.program}


class Pod:
    """`places`: the folders of the container that are in this one."""

    def __init__(self, *places):
        self._folder = Folder()
        self.remove = self._folder.remove
        self._places = places

    def add(self, path, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        os.chmod(self._folder.write(path.lstrip("/"), self.here(text)), mode)

    def path(self, path):
        return self._folder.path(path.lstrip("/"))

    def here(self, text):
        """With the container's paths as they are here."""
        for inside in self._places:
            text = text.replace(inside, self.path(inside))
        return text

    def command(self, words):
        return [PROGRAMS.get(word, lambda word=word: self.here(word))() for word in words]

    def start(self, settings, *flags):
        """The broker of these settings, on ports of the kernel's choice."""
        return brokers.Broker("--config", self.path(settings), "--log-format=text", *flags,
                              http="127.0.0.1:0", is_awaited=False)


def run_program(case, command, **environment):
    """What it says; it is to end with 0."""
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=GENEROUS_S)
    said = done.stdout + done.stderr
    case.assertEqual(done.returncode, 0, said)
    return said


def mount(pod, container, given):
    """The files of a pod of Kubernetes, as path, text and mode: `given` has the keys of each Secret
    and ConfigMap."""
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    for one in container["volumeMounts"]:
        volume = volumes[one["name"]]
        source = volume.get("secret") or volume["configMap"]
        held = given[source.get("secretName") or source["name"]]
        for item in source.get("items") or [{"key": key, "path": key} for key in held]:
            yield (os.path.join(one["mountPath"], item["path"]), held[item["key"]],
                   source.get("defaultMode", 0o644))


def certificates(folder, names, *callers):
    """What deploy/example-mtls makes, by the name of the file."""
    made = folder.path("certificates")
    subprocess.run([os.path.join(place.ROOT, "deploy/example-mtls/make-certificates"), made, names,
                    *callers], check=True, capture_output=True)
    found = {}
    for name in os.listdir(made):
        with open(os.path.join(made, name), encoding="ascii") as file:
            found[name] = file.read()
    return found
