"""The commands that CLI.md shows, given literally, do what it says."""

import os
import re
import subprocess
import tempfile
import unittest

from support import document
from support.cli import CliTest, program
from support.client import queue_pb2, seconds, state_name, task_pb2
from support.process import GENEROUS_S

DOCUMENT = "docs/CLI.md"


class DocumentTest(CliTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="skiplane-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment["PATH"] = ":".join(
            [self.folder, os.path.dirname(program()), os.environ["PATH"]])

    def program(self, name, script):
        """A program of the reader's."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(path, 0o755)

    def put(self, **files):
        """Names with _ for the dot."""
        for name, content in files.items():
            with open(os.path.join(self.folder, name.replace("_", ".")), "w",
                      encoding="utf-8") as file:
                file.write(content)

    def give(self, heading, block=0, **names):
        """The commands below this heading, each once and to its end; a name that is written in
        capitals stands for the next one of these."""
        commands = document.commands(DOCUMENT, heading, block)
        commands = re.sub(r" --watch(=\d+)?", "", commands)
        for name, values in names.items():
            later = iter(values)
            commands = re.sub(rf"\b{name}\b", lambda _, later=later: next(later), commands)
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", commands], cwd=self.folder,
                              check=False, capture_output=True, timeout=GENEROUS_S,
                              env=self.environment)
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        return done.stdout.decode()

    def failed(self, **fields):
        task_id = self.client.enqueue("mail", priority=-9, **fields)
        [task] = self.client.lease("mail")
        self.client.nack(task, "FAIL", error=task_pb2.TaskError(type="Broken", text=b"no disk"))
        return task_id

    def states(self, task_ids):
        return [state_name(self.client.task(task_id).state) for task_id in task_ids]


class Queues(DocumentTest):
    def test_they_are_made_changed_and_paused(self):
        self.give("Queues")
        mail = self.client.queue("mail")
        self.assertEqual((mail.settings.retry.max_attempts, mail.settings.retry.base_delay.seconds,
                          mail.pause_mode),
                         (8, 10, queue_pb2.PAUSE_MODE_NONE))
        self.assertEqual(self.client.queue("index").lane_count, 4)
        self.assertEqual([stage.name for stage in self.client.queue("video").settings.stages],
                         ["fetch", "encode", "publish", "announce"])


class Operators(DocumentTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")

    def test_single_tasks(self):
        done = self.client.enqueue("mail", b"hello", key="order-17")
        self.client.ack(*self.client.lease("mail"))
        failed = [self.failed(), self.failed()]
        waiting = self.client.enqueue("mail")
        said = self.give("Tasks", TASK=[done, waiting, *failed, waiting, waiting])
        self.assertEqual(len(re.findall("^state +succeeded$", said, re.M)), 2, said)
        self.assertEqual(self.states(failed), ["READY"] * 2)
        self.assertEqual(self.client.task(waiting).priority, -10)

    def test_tasks_that_are_mended(self):
        self.client.create_queue("letters")
        failed, waiting = self.failed(headers={"h": "1"}), self.client.enqueue("mail", b"old")
        self.give("Tasks", 2, TASK=[failed, failed, waiting])
        tasks = sorted(((task.payload, dict(task.headers))
                       for task in self.client.lease("mail", max_tasks=10)), key=str)
        self.assertEqual(tasks, [(b'{"id": 7}', {"h": "1"}), (b'{"id": 7}', {"mended": "yes"})])
        self.assertEqual(self.client.lease("letters")[0].payload, b"old")

    def test_a_running_task_that_is_to_be_cancelled(self):
        task_id = self.client.enqueue("mail")
        self.client.lease("mail")
        self.run_cli("tasks", "cancel", task_id)
        self.assertRegex(self.run_cli("tasks", "show", task_id), r"cancel_requested +yes\n")

    def test_all_tasks_that_match(self):
        failed = self.failed()
        campaign = self.client.enqueue("mail", key="campaign-7-1")
        commands = document.commands(DOCUMENT, "Tasks", 1).splitlines()
        for command in commands:  # the first one asks, and nobody is there to answer
            code = 0 if re.search("--yes|--dry-run", command) else 2
            self.run_cli(*command.split()[1:], code=code)
        self.run_cli(*commands[0].split()[1:], "--yes")
        self.assertEqual(self.states([failed, campaign]), ["READY", "CANCELLED"])

    def test_errors_and_reports_and_schedules(self):
        self.client.create_queue("reports")
        failed = self.failed()
        periodic = self.client.enqueue("reports", key="daily", cron="0 6 * * *")
        [group] = self.lines("errors", "list", "mail")
        self.client.enqueue("mail")
        self.client.lease("mail", worker_id="w", worker_name="mailer")
        [handle] = [worker["worker_handle"] for worker in self.lines("workers")
                    if worker.get("name") == "mailer"]
        said = self.give("Errors, reports, schedules", FINGERPRINT=[group["fingerprint"]] * 4,
                         TASK=[failed, periodic], HANDLE=[handle] * 3)
        self.assertIn("Broken", said)
        self.assertEqual(self.states([failed, periodic]), ["READY"] * 2)

    def test_tables_and_one_screen(self):
        self.client.enqueue("mail")
        by_age, by_failures = self.give("Options of all commands").split("QUEUE", 2)[1:]
        self.assertIn("mail", by_age)
        self.assertEqual(by_failures.split(), ["READY", "FAILED", "mail", "1", "0"])
        said = self.give("Errors, reports, schedules", 1)
        self.assertEqual(said.count("1 queues: 1 ready"), 2, said)

    def test_for_programs(self):
        self.client.enqueue("mail", b"left")
        task_id = self.failed(payload=b"to Ann")
        said = self.give("For programs", TASK=[task_id])
        self.assertEqual(said.splitlines(), ["mail", "to Ann", "no disk"])

    def test_enqueue(self):
        for queue in ("thumbnails", "scans", "reports", "letters"):
            self.client.create_queue(queue)
        self.put(a_jpg="1", b_jpg="2", a_tif="3", tasks_jsonl='{"payload": 1}\n{"payload": 2}\n',
                 tasks_csv="id,body,remark\n7,to Bob,none\n")
        self.program("generate", "echo one; echo two")
        said = self.give("Enqueue")
        self.assertEqual(said.splitlines()[-1], "TASK_STATE_SCHEDULED", said)
        counts = {queue: self.client.queue(queue).counts for queue in
                  ("mail", "thumbnails", "scans", "reports")}
        self.assertEqual([(count.ready_count, count.scheduled_count) for count in counts.values()],
                         [(6, 1), (2, 0), (1, 0), (0, 1)])
        [daily] = self.lines("schedules", "list", "reports")
        self.assertEqual(daily["recurrence"]["cron"], "0 7 * * *")
        for _ in range(2):  # the keys make a repeat harmless
            self.give("Enqueue", 1)
        self.assertEqual(self.client.queue("letters").counts.ready_count, 1)


class Workers(DocumentTest):
    """They would go on for ever: these end when nothing is ready."""

    def setUp(self):
        super().setUp()
        self.client.create_queue("mail")

    def burst(self, heading, block=0):
        commands = document.commands(DOCUMENT, heading, block).replace("--burst ", "")
        commands = commands.replace("skiplane work", "skiplane work --burst")
        done = subprocess.run(["bash", "-c", commands], cwd=self.folder, env=self.environment,
                              check=False, capture_output=True, timeout=GENEROUS_S)
        return re.findall(r"skiplane: (\d+) done, 0 retried, 0 failed", done.stderr.decode())

    def test_of_any_program(self):
        self.client.create_queue("video", stages=[{"name": "encode"}])
        self.client.create_queue("words", keep_results=True)
        self.program("send-mail", "grep -q hello")
        self.program("ffmpeg", "grep -q raw")
        self.client.enqueue("mail", b"hello")
        self.client.enqueue("video", b"raw", key="film")
        words = self.client.enqueue("words", b"three little words")
        self.assertEqual(self.burst("A worker of any program"), ["1"] * 3)
        [shown] = self.lines("tasks", "show", words)
        self.assertEqual(shown["task"]["state"], "TASK_STATE_SUCCEEDED")

    def test_that_goes_on_where_the_attempt_before_was(self):
        self.client.create_queue("reports")
        self.program("export-pages", '[ "$2" = 40 ] && echo "90% 90" > "$4"')
        self.client.enqueue("reports")
        [task] = self.client.lease("reports", worker_id="w")
        self.client.heartbeat("w", 30, task,
                              progress=task_pb2.TaskProgress(fraction=0.4, message="40"))
        self.client.nack(task, retry_delay=seconds(0))
        self.assertEqual(self.burst("A worker of any program", 1), ["1"])

    def test_in_scripts(self):
        self.program("send-mail", "true")
        self.client.enqueue("mail", b"hello")
        self.assertEqual(self.burst("A worker in scripts"), ["1", "0"])

    def test_with_files(self):
        self.client.create_queue("scans", keep_results=True)
        self.client.create_queue("site", stages=[{"name": "crawl"}])
        self.program("tesseract", 'cat "$1"')
        self.program("fetch", 'echo "page $1"')
        self.program("links", '[ "$SKIPLANE_KEY" = next ] || echo next')
        self.client.enqueue("scans", b"image")
        self.client.enqueue("site", key="first")
        self.assertEqual(self.burst("Payloads and follow-ups in files"), ["1"])
        self.assertEqual(self.burst("Payloads and follow-ups in files", 1), ["2"])


if __name__ == "__main__":
    unittest.main()
