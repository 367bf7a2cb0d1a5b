"""Tasks from arguments, files and streams, and runs that are repeated."""

import json
import os
import subprocess
import unittest

from support.cli import MailTest


class Enqueue(MailTest):
    def payloads(self, count=1000):
        return [task.payload for task in self.client.lease("mail", max_tasks=count)]

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_arguments_are_payloads(self):
        said = self.run_cli("enqueue", "mail", "one", "[1, 2]", "", "--", "--three")
        self.assertEqual([line.split()[1] for line in said.splitlines()], ["created"] * 4)
        self.assertEqual(self.payloads(), [b"one", b"[1, 2]", b"", b"--three"])

    def test_options_say_what_tasks_have_in_common(self):
        first = self.lines("enqueue", "mail", "x", "--key", "k", "--priority", "-3", "--header",
                           "a=b=c", "--content-type", "text/plain", "--max-attempts", "2")
        self.assertEqual(first[0]["outcome"], "ENQUEUE_OUTCOME_CREATED")
        [task] = self.client.lease("mail")
        self.assertEqual((task.key, task.priority, dict(task.headers), task.content_type,
                          task.max_attempts), ("k", -3, {"a": "b=c"}, "text/plain", 2))
        again = self.lines("enqueue", "mail", "x", "--key", "k")
        self.assertEqual((again[0]["task_id"], again[0]["outcome"]),
                         (first[0]["task_id"], "ENQUEUE_OUTCOME_EXISTING"))

    def test_a_delay_and_a_time_hold_a_task_back(self):
        [one] = self.lines("enqueue", "mail", "x", "--delay", "1h")
        [other] = self.lines("enqueue", "mail", "x", "--at", "2033-01-01T00:00:00Z")
        self.assertEqual((self.client.state(one["task_id"]), self.client.state(other["task_id"])),
                         ("SCHEDULED", "SCHEDULED"))
        self.assertEqual(self.client.task(other["task_id"]).schedule_time.seconds, 1988150400)

    def test_each_file_is_a_task(self):
        binary = bytes(range(256))
        self.run_cli("enqueue", "mail", "--file", self.file("a", binary), self.file("b", b""))
        self.assertEqual(self.payloads(), [binary, b""])
        self.run_cli("enqueue", "mail", "--file", os.path.join(self.folder, "none"), code=5)
        self.run_cli("enqueue", "mail", "--file", "-", given=b"piped\n")
        self.assertEqual(self.payloads(), [b"piped\n"])

    def test_a_file_keeps_its_name(self):
        path = self.file("scän.tif", b"\xff")
        said = self.run_cli("enqueue", "mail", "--key-from-file", "--file", path)
        self.assertRegex(said, rf"^\S+ created {path}\n$")
        [again] = self.lines("enqueue", "mail", "--key-from-file", "--file", path)
        self.assertEqual((again["outcome"], again["file"]), ("ENQUEUE_OUTCOME_EXISTING", path))
        [task] = self.client.lease("mail", max_tasks=10)
        self.assertEqual((task.key, dict(task.headers)), (path, {"file": path}))
        self.run_cli("enqueue", "mail", "--header", "file=mine", "--file", path)
        self.run_cli("enqueue", "mail", "--file", "-", given=b"no name")
        own, piped = self.client.lease("mail", max_tasks=10)
        self.assertEqual((dict(own.headers), dict(piped.headers)), ({"file": "mine"}, {}))
        self.run_cli("enqueue", "mail", "--key-from-file", "--file", "-", code=2)
        self.run_cli("enqueue", "mail", "--key-from-file", "x", code=2)

    def test_text_that_is_not_utf_8_is_refused_unless_it_is_allowed(self):
        latin = "Grüße".encode("latin-1")
        for stream, text in (("--lines", latin), ("--csv", b"payload\n" + latin),
                             ("--tsv", b"payload\n" + latin)):
            with self.subTest(stream):
                text = b"good\n" + text if stream == "--lines" else text
                self.run_cli("enqueue", "mail", stream, "-", given=text + b"\n", code=2)
                self.assertIn("line 2: payload: byte 3 (0xfc) is not UTF-8", self.errors)
                self.assertEqual(self.client.queue("mail").counts.ready_count, 0)
                self.run_cli("enqueue", "mail", stream, "-", "--allow-invalid-utf8",
                             given=text + b"\n")
                self.assertIn(latin, self.payloads())
        self.run_cli("enqueue", "mail", "--jsonl", "-", "--allow-invalid-utf8", code=2,
                     given=b'{"payload": "' + latin + b'"}')
        self.assertIn("line 1: byte 16 (0xfc) is not UTF-8, which JSON must be", self.errors)
        self.run_cli("enqueue", "mail", "--file", self.file("latin", latin))
        self.assertEqual(self.payloads(), [latin])

    def test_csv_rows_are_tasks(self):
        text = b'id,body,priority,headers.h\r\n1,"a ""b"",\nc",5,x\r\n2,plain,,\r\n'
        self.run_cli("enqueue", "mail", "--csv", "-", "--map", "id=key", "--map", "body=payload",
                     given=text)
        tasks = {task.key: task for task in self.client.lease("mail", max_tasks=10)}
        self.assertEqual((tasks["1"].payload, tasks["1"].priority, dict(tasks["1"].headers)),
                         (b'a "b",\nc', 5, {"h": "x"}))
        self.assertEqual((tasks["2"].payload, tasks["2"].priority, dict(tasks["2"].headers)),
                         (b"plain", 0, {}))

    def test_a_table_of_postgres_comes_over(self):
        self.database.run(
            "CREATE TABLE jobs AS SELECT * FROM (VALUES "
            "(1, 'a,\"b\"' || chr(10) || 'c', NULL::bytea, 2, "
            "timestamptz '2033-01-01 00:00:00.5+02'),"
            "(2, NULL, '\\x00ff'::bytea, NULL, NULL)) AS j (id, body, bytes, priority, run_at)")
        rows = subprocess.run(
            ["psql", self.database.uri, "-c", """COPY (
                SELECT 'job-' || id AS key, body AS payload, priority, run_at AS schedule_time
                FROM jobs WHERE body IS NOT NULL) TO STDOUT (FORMAT csv, HEADER)"""],
            capture_output=True, check=True).stdout
        self.run_cli("enqueue", "mail", "--csv", "-", given=rows)
        self.run_cli("enqueue", "mail", "--csv", "-", given=rows)
        rows = subprocess.run(
            ["psql", self.database.uri, "-c", """COPY (
                SELECT 'job-' || id AS key, encode(bytes, 'base64') AS payload_base64
                FROM jobs WHERE bytes IS NOT NULL) TO STDOUT (FORMAT csv, HEADER)"""],
            capture_output=True, check=True).stdout
        self.run_cli("enqueue", "mail", "--csv", "-", given=rows)
        [task] = self.client.lease("mail", max_tasks=10)
        self.assertEqual((task.key, task.payload), ("job-2", b"\x00\xff"))
        self.assertEqual(self.client.queue("mail").counts.scheduled_count, 1)

    def test_what_mysql_writes_is_understood(self):
        self.run_cli("enqueue", "mail", "--tsv", "-", "--null", "NULL",
                     given=b"key\tpayload\tpriority\n7\ta\\nb\\\\c\tNULL\n")
        [task] = self.client.lease("mail")
        self.assertEqual((task.key, task.payload, task.priority), ("7", b"a\nb\\c", 0))

    def test_json_lines_are_tasks(self):
        lines = [{"payload": {"to": "ann"}, "headers": {"h": "x"}, "priority": 2},
                 {"payload": "text", "delay": "0s", "key": "k"}]
        text = "\n".join(json.dumps(line) for line in lines).encode()
        said = self.lines("enqueue", "mail", "--jsonl", "-", given=text)
        self.assertEqual((said[0]["task_count"], said[0]["outcomes"]), (2, {"created": 2}))
        self.assertEqual(self.payloads(), [b"text", b'{"to":"ann"}'])

    def test_a_run_that_is_repeated_makes_no_task_twice(self):
        text = "\n".join(json.dumps({"payload": str(number), "headers": {"a": "1", "b": "2"}})
                         for number in range(2500)).encode()
        run = ("enqueue", "mail", "--jsonl", "-", "--batch-id", "run-1")
        self.run_cli(*run, given=text)
        self.run_cli(*run, given=text)
        self.assertEqual(self.client.queue("mail").counts.ready_count, 2500)

    def test_a_bad_line_keeps_its_batch_out_and_the_run_goes_on_behind_what_is_in(self):
        good = "\n".join(json.dumps({"payload": str(number)}) for number in range(1500))
        said = ("enqueue", "mail", "--jsonl", "-", "--batch-id", "run-2")
        self.run_cli(*said, given=(good + '\n{"priority": "high"}\n').encode(), code=2)
        self.assertIn("line 1501: priority: 'high' is not a whole number", self.errors)
        self.assertIn("the first 1,000 tasks are in", self.errors)
        self.assertEqual(self.client.queue("mail").counts.ready_count, 1000)
        self.run_cli(*said, given=(good + '\n{"priority": 1}\n').encode())
        self.assertEqual(self.client.queue("mail").counts.ready_count, 1501)

    def test_a_line_that_the_broker_refuses_is_named_by_its_number(self):
        rows = ["payload,priority", *(f"{number},0" for number in range(1201)), "x,99999"]
        self.run_cli("enqueue", "mail", "--csv", "-", given="\n".join(rows).encode(), code=2)
        self.assertRegex(self.errors, r"(row|line) 120[23]: .*priority.*INVALID_FIELD")
        self.assertEqual(self.client.queue("mail").counts.ready_count, 1000)

    def test_nothing_or_too_much_is_wrong_usage(self):
        self.run_cli("enqueue", "mail", code=2)
        self.run_cli("enqueue", "mail", "x", "--lines", "-", code=2)
        self.run_cli("enqueue", "mail", "x", "y", "--key", "k", code=2)
        self.run_cli("enqueue", "mail", "x", "--delay", "1s", "--at", "2033-01-01", code=2)
        said = self.run_cli("enqueue", "mail", "--csv", "-", given=b"colour\nred\n", code=2)
        self.assertIn("tasks have no 'colour'", self.errors)
        self.assertIn("nothing was enqueued", self.errors)
        self.assertEqual((said, "--batch-id" in self.errors), ("", False))


if __name__ == "__main__":
    unittest.main()
