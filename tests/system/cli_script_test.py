"""skiplane work and enqueue in scripts: an end of its own, files in and out, lines to read."""

import gzip
import os
import shutil
import signal
import subprocess
import unittest

from support import document
from support.case import slow
from support.cli import program
from support.client import seconds, state_name, task_pb2
from support.process import GENEROUS_S
from support.work import WorkTest


@slow
class Scripts(WorkTest):
    def burst(self, script, *options, queue="mail", code=0):
        """Works until nothing is ready; the last line."""
        self.run_cli("work", queue, "--burst", *options, "--", "sh", "-c", script, code=code)
        return self.errors.splitlines()[-1]

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_a_burst_ends_when_nothing_is_ready(self):
        for _ in range(20):
            self.client.enqueue("mail", b"")
        again = self.client.enqueue("mail", b"", key="again")
        self.run_cli("enqueue", "mail", "later", "--delay", "1h")
        self.assertEqual(self.burst('[ -z "$SKIPLANE_KEY" ] || exit 75', "-c", "4"),
                         "skiplane: 20 done, 1 retried, 0 failed, 0 released, 0 cancelled, 0 lost")
        self.assertEqual(self.client.state(again), "SCHEDULED")
        self.assertEqual(self.burst("true"),
                         "skiplane: 0 done, 0 retried, 0 failed, 0 released, 0 cancelled, 0 lost")

    def test_a_burst_that_cannot_begin_says_why_by_its_exit_code(self):
        self.run_cli("work", "none", "--burst", "--", "true", code=4)
        self.assertEqual(self.errors.count("(QUEUE_NOT_FOUND)"), 1)
        self.broker.terminate()
        self.run_cli("--timeout", "1s", "work", "mail", "--burst", "--", "true", code=3)

    def test_a_worker_that_is_stopped_before_its_end_says_so(self):
        worker = self.start_cli("work", "mail", "--max-tasks", "1", "--", "true")
        worker.wait_for_output("working")
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.wait(), 130, worker.output)

    def test_a_worker_ends_after_its_number_of_tasks(self):
        for _ in range(5):
            self.client.enqueue("mail", b"")
        self.run_cli("work", "mail", "--max-tasks", "3", "-c", "2", "--", "true")
        self.assertIn("skiplane: 3 done,", self.errors)
        self.assertEqual(self.client.queue("mail").counts.ready_count, 2)

    def test_the_log_has_a_line_for_each_attempt(self):
        self.client.enqueue("mail", b"0", key="good one")
        self.client.enqueue("mail", b"65", key="bad")
        log = os.path.join(self.folder, "log")
        self.burst("read code; exit $code", "--log", log)
        self.burst("true", "--log", log)
        with open(log, encoding="utf-8") as file:
            lines = sorted(line.split(" ", 1)[1] for line in file)
        self.assertRegex(lines[0] + lines[1],
                         r"task=\S+ queue=mail key=\S+ attempt=1 end=\w+ exit=\d+ seconds=\d+\.\d+")
        self.assertTrue(any('key="good one" attempt=1 end=done exit=0 ' in line for line in lines))
        self.assertTrue(any("key=bad attempt=1 end=failed exit=65 " in line for line in lines))
        self.assertEqual(len(lines), 2)

    def test_the_payload_may_be_a_file_and_no_file_is_left(self):
        binary = bytes(range(256)) * 100
        task = self.client.enqueue("mail", binary)
        self.client.update_queue("mail", "keep_results", keep_results=True)
        self.environment["TMPDIR"] = self.folder
        self.run_cli("work", "mail", "--burst", "--payload-file", "--result", "--", "sh", "-c",
                     'cat "$1" "$SKIPLANE_PAYLOAD_FILE"; stat -c %a "$1" >&2; wc -c >&2', "-",
                     "{}")
        self.assertIn("600\n0\n", self.errors)
        [shown] = self.lines("tasks", "show", task)
        self.assertEqual(shown["task"]["state"], "TASK_STATE_SUCCEEDED")
        self.assertEqual(os.listdir(self.folder), [])

    def test_follow_ups_are_made_with_the_ack_and_run_in_the_same_burst(self):
        self.client.create_queue("pages")
        self.client.enqueue("mail", b"3")
        said = self.burst(
            'read count; [ "$SKIPLANE_QUEUE" = mail ] || exit 0; for i in $(seq $count); do '
            'echo "{\\"queue\\": \\"pages\\", \\"key\\": \\"page-$i\\", \\"payload\\": $i}"; '
            'done > "$SKIPLANE_FOLLOW_UPS_FILE"', "--output-files", "pages")
        self.assertTrue(said.startswith("skiplane: 4 done, 0 retried"), said)
        self.assertEqual(self.client.queue("pages").counts.succeeded_count, 3)

    def test_wrong_follow_ups_fail_the_attempt_and_nothing_is_made(self):
        unreadable = self.client.enqueue("mail", b'{"payload": 1}\nhello\n', max_attempts=1)
        refused = self.client.enqueue("mail", b'{"queue": "none", "payload": 1}\n',
                                      max_attempts=1)
        self.burst('cat > "$SKIPLANE_FOLLOW_UPS_FILE"', "--output-files")
        self.assertEqual([self.client.state(task) for task in (unreadable, refused)],
                         ["FAILED", "FAILED"])
        self.assertEqual(self.error_of(unreadable), (
            "bad output file", "SKIPLANE_FOLLOW_UPS_FILE, line 2: not a JSON object\n"))
        self.assertEqual(self.error_of(refused)[0], "QUEUE_NOT_FOUND")
        self.assertEqual(self.client.queue("mail").counts.ready_count, 0)

    def test_the_next_stage_gets_the_payload_that_the_program_wrote(self):
        self.run_cli("queues", "create", "video", "--stage", "fetch", "--stage", "encode")
        self.client.enqueue("video", b"address", headers={"h": "1"})
        self.run_cli("work", "video:fetch", "--burst", "--output-files", "--", "sh", "-c",
                     'printf "%s content" "$(cat)" > "$SKIPLANE_NEXT_PAYLOAD_FILE"')
        [task] = self.client.lease("video")
        self.assertEqual((task.stage, task.payload, dict(task.headers)),
                         ("encode", b"address content", {"h": "1"}))

    def test_progress_is_what_the_program_writes(self):
        task = self.client.enqueue("mail", b"")
        worker = self.work('echo "40% encoding" > "$SKIPLANE_PROGRESS_FILE"; '
                           'exec tail -f /dev/null', "--output-files", "--lease-duration", "6s",
                           "--grace", "0")
        self.database.eventually(
            "SELECT count(*) FROM skiplane.worker_session WHERE progress::text ~ 'encoding'", "1")
        progress = self.client.task(task).progress
        self.assertEqual((progress.fraction, progress.message), (0.4, "encoding"))
        worker.terminate()

    def test_an_attempt_after_others_learns_where_they_ended(self):
        self.client.enqueue("mail", b"")
        [task] = self.client.lease("mail", worker_id="w")
        self.client.heartbeat("w", 600, task,
                              progress=task_pb2.TaskProgress(fraction=0.4, message="page 40"))
        error = task_pb2.TaskError(type="exit 75", text=b"no disk\x00hidden")
        self.client.nack(task, error=error, retry_delay=seconds(0))
        self.client.enqueue("mail", b"")
        path = os.path.join(self.folder, "seen")
        self.burst('printf "%s|%s|%s|%s\\n" "$SKIPLANE_LAST_ERROR_TYPE" "$SKIPLANE_LAST_ERROR" '
                   '"$SKIPLANE_LAST_PROGRESS" "$SKIPLANE_LAST_PROGRESS_MESSAGE" >> ' + path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(sorted(file), ["exit 75|no disk|0.4|page 40\n", "|||\n"])

    def give(self, commands):
        path = os.path.dirname(program()) + ":" + os.environ["PATH"]
        done = subprocess.run(["bash", "-e", "-c", commands], cwd=self.folder, check=False,
                              capture_output=True, timeout=4 * GENEROUS_S,
                              env={**self.environment, "PATH": path})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_guide_for_many_files(self):
        names = [f"a log {number}.log" for number in range(500)]
        for name in names:
            self.put(name, f"lines of {name}\n")
        commands = document.commands("docs/CLI.md", "Many files through a queue")
        done = self.give(commands)
        self.assertIn(b"skiplane: 500 done, 0 retried, 0 failed", done.stderr)
        lines = [line for line in done.stdout.decode().splitlines() if " created " in line]
        self.assertEqual(sorted(line.split(" ", 2)[2] for line in lines), sorted(names))
        for name in names:
            with gzip.open(os.path.join(self.folder, "packed", name + ".gz"), "rt") as file:
                self.assertEqual(file.read(), f"lines of {name}\n")
        again = self.give(commands)
        self.assertEqual(again.stdout.count(b" existing "), 500)
        self.assertIn(b"skiplane: 0 done, 0 retried, 0 failed", again.stderr)

    def test_the_guide_for_many_files_when_one_cannot_be_packed(self):
        self.put("a.log", "good")
        self.put("b.log", "bad")
        obstacle = os.path.join(self.folder, "packed", "b.log.gz")
        os.makedirs(obstacle)
        commands = document.commands("docs/CLI.md", "Many files through a queue")
        for _ in range(3):  # each has one attempt or more
            self.give(commands)
            self.database.eventually(
                "SELECT count(*) FROM skiplane.task WHERE schedule_time > clock_timestamp()", "0")
        failed = self.give(commands)
        self.assertIn("0 done, 0 retried, 0 failed", failed.stderr.decode())
        self.assertIn("b.log", failed.stdout.decode())
        os.rmdir(obstacle)
        self.give(document.commands("docs/CLI.md", "Many files through a queue", block=1))
        self.assertIn("1 done, 0 retried, 0 failed", self.give(commands).stderr.decode())
        with gzip.open(obstacle, "rt") as file:
            self.assertEqual(file.read(), "bad")

    def start_with_files(self):
        """A worker that makes files below its TMPDIR; this folder."""
        folder = os.path.join(self.folder, "tmp")
        os.mkdir(folder)
        self.environment["TMPDIR"] = folder
        worker = self.work('cat "$SKIPLANE_PAYLOAD_FILE"', "--payload-file", "--log", "-")
        return worker, folder

    def test_a_worker_that_cannot_make_files_hands_its_task_back_and_ends(self):
        worker, folder = self.start_with_files()
        shutil.rmtree(folder)
        task = self.client.enqueue("mail", b"", max_attempts=1)
        self.assertEqual(worker.wait(), 5, worker.output)
        self.assertIn("skiplane: stopping: cannot make a folder in ", worker.output)
        self.assertRegex(worker.output, r" attempt=1 end=released start_error=\"cannot make a ")
        self.assertIn("skiplane: 0 done, 0 retried, 0 failed, ", worker.output)
        view = self.client.task(task)
        self.assertEqual((state_name(view.state), view.attempt_count), ("READY", 0))

    def test_a_worker_whose_folder_a_cleaner_took_makes_it_anew(self):
        worker, folder = self.start_with_files()
        [made] = os.listdir(folder)
        os.rmdir(os.path.join(folder, made))
        self.client.enqueue("mail", b"")
        self.assert_succeeded(1)
        self.end(worker, "1 done, 0 retried, 0 failed, 0 released, 0 cancelled, 0 lost")
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
