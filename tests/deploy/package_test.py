"""Debian's packages and the tarball: made, installed in a bare Debian, run, and purged."""

import filecmp
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import bare
from support.case import slow
from support.notify import NotifySocket

BUILD = os.environ["SKIPLANE_BUILD_DIR"]
FOLDER = os.path.join(BUILD, "package")  # kept: the second time little is compiled
UNIT = "/usr/lib/systemd/system/skiplaned.service"
WORKER_UNIT = "/usr/lib/systemd/system/skiplane-worker@.service"
SETTINGS = "/etc/skiplane/skiplaned.conf"
POSTGRES = "/usr/lib/postgresql/15/bin/postgres -c listen_addresses= -D /var/lib/postgresql/15/main"


def setUpModule():  # pylint: disable=invalid-name
    if bare.why_not():
        raise unittest.SkipTest(bare.why_not())
    for old in glob.glob(f"{FOLDER}/made/*"):
        os.remove(old)
    make(f"{FOLDER}/made")


def make(folder):
    subprocess.run([os.path.join(bare.ROOT, "deploy", "package"), folder], check=True,
                   env={**os.environ, "SKIPLANE_PACKAGE_DIR": f"{FOLDER}/build"},
                   stdout=subprocess.DEVNULL)


def packages(folder=f"{FOLDER}/made"):
    return sorted(glob.glob(f"{folder}/*.deb"))


def names_in(package):
    """The paths of its files."""
    text = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True,
                          capture_output=True).stdout
    listed = subprocess.run(["tar", "--list"], input=text, check=True, capture_output=True).stdout
    return [line.removeprefix(".") for line in listed.decode().splitlines()]


@slow
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.debian = bare.BareDebian(f"{FOLDER}/debootstrap")
        cls.addClassCleanup(cls.debian.remove)

    def test_what_is_made_twice_has_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as again:
            make(again)
            _, differ, failed = filecmp.cmpfiles(f"{FOLDER}/made", again,
                                                 os.listdir(f"{FOLDER}/made"), shallow=False)
            self.assertEqual(differ + failed, [])
        self.assertEqual(len(packages()), 3)

    def test_lintian_finds_no_error(self):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on=error", *packages()],
                              check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_each_command_has_a_man_page_with_its_options(self):
        program = f"{FOLDER}/build/client/cli/skiplane"
        shown = self.output_of(program, "--help")
        commands = re.findall(r"(?m)^  (\w+) ", shown.split("Subcommands:")[1].split("\n\n")[0])
        self.assertIn("work", commands)
        [package] = [path for path in packages() if "/skiplane_" in path]
        self.assertEqual(
            sorted(path.split("/")[-1] for path in names_in(package) if path.endswith(".1.gz")),
            sorted(["skiplane.1.gz", *(f"skiplane-{name}.1.gz" for name in commands)]))
        page = self.output_of("zcat", f"{FOLDER}/build/package/skiplane/man/man1/"
                                      "skiplane-work.1.gz").replace("\\", "")
        manual = self.output_of(program, "work", "--help")
        for option in re.findall(r"(?m)^  .*(--[a-z-]+)", manual):
            self.assertIn(option, page)

    def output_of(self, *command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def start(self, line, user, **variables):
        program = self.debian.start(line, user, **variables)
        self.addCleanup(program.end)
        return program

    def install(self):
        for package in packages():
            shutil.copy(package, self.debian.file(self.place_of(package)))
        self.debian.apt_get("update")
        self.debian.apt_get(f"install postgresql {' '.join(map(self.place_of, packages()))}")

    def place_of(self, package):
        return "/" + os.path.basename(package)

    def make_database(self):
        """As the file of settings says it."""
        server = self.start(
            f"{POSTGRES} -c config_file=/etc/postgresql/15/main/postgresql.conf", "postgres")
        server.wait_for_output("ready to accept connections")
        with open(self.debian.file(SETTINGS), encoding="utf-8") as file:
            commands = re.findall(r"(?m)^# +runuser -u postgres -- (.*)$", file.read())
        self.assertEqual(len(commands), 2)
        for command in commands:
            self.debian.run(command, "postgres")

    def start_service(self):
        """As systemd would: what ExecStart says, as its user, until it says that it is ready."""
        with open(self.debian.file(UNIT), encoding="utf-8") as file:
            unit = file.read()
        systemd = NotifySocket(self.debian.file("/run/notify"), "/run/notify")
        self.addCleanup(systemd.close)
        [command], [user] = (bare.lines_of_unit(unit, key) for key in ("ExecStart", "User"))
        broker = self.start(command, user, NOTIFY_SOCKET=systemd.place)
        systemd.wait_for("READY=1")
        self.reloads = bare.lines_of_unit(unit, "ExecReload")
        return broker, systemd

    def test_the_programs_of_the_tarball_need_nothing_but_the_c_library(self):
        [tarball] = glob.glob(f"{FOLDER}/made/*.tar.xz")
        self.addCleanup(self.debian.run, "find /opt -mindepth 1 -delete")
        subprocess.run(["tar", "-xf", tarball, "-C", self.debian.file("/opt"),
                        "--strip-components=1"], check=True)
        for name in ("skiplaned", "skiplane"):
            self.assertRegex(self.debian.run(f"/opt/bin/{name} --version"), r"\d\n$")
            loaded = re.findall(r"=> (\S+)/\S+ ", self.debian.run(f"ldd /opt/bin/{name}"))
            self.assertGreater(loaded.count("/opt/bin/../lib/skiplane"), 20)
            self.assertLessEqual(loaded.count("/lib/x86_64-linux-gnu"), 4)

    def test_they_run_a_task_and_are_purged_without_a_trace(self):
        self.install()
        self.make_database()
        broker, systemd = self.start_service()
        self.debian.run("skiplane queues create mail")
        self.debian.run("skiplane enqueue mail hello --key first")
        self.debian.run("skiplane work mail --max-tasks 1 -- cat")
        self.assertRegex(self.debian.run("skiplane tasks show mail/first"), r"SUCCEEDED|succeeded")
        self.work_as_the_unit_says()
        self.reload(broker, systemd)
        self.debian.run(f"kill -TERM {self.pid_inside(systemd.sender)}")
        systemd.wait_for("STOPPING=1")
        self.assertEqual(broker.wait(), 0, broker.output)
        self.purge()

    def work_as_the_unit_says(self):
        """What systemd runs as skiplane-worker@mail, with the example's settings."""
        example = "/usr/share/doc/skiplane/examples/worker.example"
        with open(self.debian.file(example), encoding="utf-8") as file:
            settings = re.sub("(?m)^PROGRAM=.*$", "PROGRAM=/bin/cat", file.read())
        with open(self.debian.file("/etc/skiplane-worker/mail"), "w", encoding="utf-8") as file:
            # The shell wants quotes where systemd takes the rest of the line.
            file.write(re.sub("(?m)^([A-Z_]+)=(.*)$", r"\1='\2'", settings))
        with open(self.debian.file(WORKER_UNIT), encoding="utf-8") as file:
            [command] = bare.lines_of_unit(file.read(), "ExecStart")
        worker = self.start(
            f"sh -c 'set -a; . /etc/skiplane-worker/mail; exec {command}'", "skiplane")
        self.debian.run("skiplane enqueue mail hello --key second")
        shown = self.debian.run("skiplane tasks show mail/second --wait 1m")
        self.assertRegex(shown, r"(?i)succeeded")
        worker.end()

    def reload(self, broker, systemd):
        """What `systemctl reload` runs: it is refused by settings that are wrong."""
        check, hang_up = self.reloads
        self.debian.run(check, "skiplane")
        self.debian.run(hang_up.replace("$MAINPID", self.pid_inside(systemd.sender)))
        systemd.wait_for("READY=1")
        broker.wait_for_output(" reloaded ")
        with open(self.debian.file(SETTINGS), "a", encoding="utf-8") as file:
            file.write("log-level = loud\n")
        said = self.debian.run(check, "skiplane", code=2)
        self.assertRegex(said, rf"{SETTINGS}.*\d+.*log-level|log-level.*{SETTINGS}")

    def pid_inside(self, pid):
        """The number that the process has in there."""
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return re.search(r"(?m)^NSpid:.*\s(\d+)$", file.read()).group(1)

    def purge(self):
        for package in packages():
            os.remove(self.debian.file(self.place_of(package)))
        self.debian.apt_get("purge skiplaned skiplane libskiplane-dev")
        traces = "find / -xdev -path /proc -prune -o -iname *skiplane* -print"
        self.assertEqual(self.debian.run(traces), "")
        # Files that end so are what was there before the last change of accounts.
        self.assertEqual(self.debian.run("grep -rl --exclude=*- skiplane /etc", code=1), "")
        self.debian.run("dpkg-query --show *skiplane*", code=1)


if __name__ == "__main__":
    unittest.main()
