"""What operators do with the content of tasks: retry with other content, copy, move; schedules."""

import threading
import unittest

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import admin_pb2, fields_of, new_id, seconds, state_name, task_pb2

HOUR = seconds(3600)
OTHER = task_pb2.TaskContent(payload=b"new", content_type="text/plain", headers={"h": "2"})


class CopyCase(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue("from", keep_payloads=True)
        self.client.create_queue("to", stages=[{"name": "cut"}, {"name": "mix"}])

    def call(self, method, task_id, **fields):
        request = getattr(admin_pb2, f"{method}Request")(task_id=task_id, **fields)
        return getattr(self.client.admin, method)(request, timeout=60).task

    def move(self, task_id, **fields):
        return self.call("MoveTask", task_id, queue="to", **fields)

    def whole(self, task_id):
        request = admin_pb2.GetTaskRequest(task_id=task_id, view="TASK_VIEW_FULL")
        return self.client.admin.GetTask(request, timeout=60).task

    def content(self, task):
        return task.payload, task.content_type, dict(task.headers)

    def put(self, **fields):
        return self.client.enqueue("from", b"old", content_type="text/html", headers={"h": "1"},
                                   **fields)

    def failed(self, **fields):
        task_id = self.put(max_attempts=1, **fields)
        [task] = self.client.lease("from")
        self.client.nack(task, error=task_pb2.TaskError(type="Broken", text=b"why"))
        return task_id

    def counts(self, queue):
        counts = self.client.queue(queue).counts
        return (counts.scheduled_count, counts.ready_count, counts.leased_count,
                counts.succeeded_count, counts.failed_count)

    def audited(self, queue):
        request = admin_pb2.ListAuditRecordsRequest(queue=queue)
        records = self.client.admin.ListAuditRecords(request, timeout=60).records
        return [(record.method, record.request_json) for record in records]

    def assert_wrong_state(self, method, task_id, **fields):
        return self.assert_refused("FAILED_PRECONDITION", "WRONG_STATE", self.call, method, task_id,
                                   **fields)


class RetryWithContent(CopyCase):
    def test_a_failed_task_starts_again_with_other_content(self):
        task_id = self.failed(key="k")
        self.call("RetryTask", task_id, new_content=OTHER)
        [task] = self.client.lease("from")
        self.assertEqual((task.task_id, task.key, task.attempt), (task_id, "k", 1))
        self.assertEqual(self.content(task), (b"new", "text/plain", {"h": "2"}))

    def test_one_that_waits_for_its_retry_does_too(self):
        for pack in (1, 40):  # many tasks of one call may be packed
            with self.subTest(tasks=pack):
                self.client.enqueue_all("from", [{"payload": b"old"}] * pack)
                tasks = self.client.lease("from", max_tasks=pack)
                self.client.nack(tasks[0])
                self.call("RetryTask", tasks[0].task_id, new_content={})
                [task] = self.client.lease("from")
                self.assertEqual(task.task_id, tasks[0].task_id)
                self.assertEqual(self.content(task), (b"", "", {}))
                for held in (*tasks[1:], task):
                    self.client.ack(held)

    def test_content_that_does_not_fit_changes_nothing(self):
        self.client.update_queue("from", "max_payload_bytes", max_payload_bytes=10)
        task_id = self.failed()
        for payload, field in ((b"x" * 11, "new_content.payload"),
                               (b"x" * (1 << 20) + b"x", "new_content.payload")):
            error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.call, "RetryTask",
                                        task_id, new_content={"payload": payload})
            self.assertEqual(fields_of(error), [field])
        self.assertEqual(self.client.state(task_id), "FAILED")
        self.assertEqual(self.whole(task_id).payload, b"old")

    def test_a_task_that_runs_keeps_its_content(self):
        task_id = self.put()
        self.client.lease("from")
        self.assert_wrong_state("RetryTask", task_id, new_content=OTHER)
        self.assertEqual(self.whole(task_id).payload, b"old")

    def test_the_audit_tells_of_it_without_it(self):
        task_id = self.failed()
        self.call("RetryTask", task_id, new_content=OTHER)
        [(method, text), *_] = self.audited("from")
        self.assertEqual(method, "RetryTask")
        self.assertIn("text/plain", text)
        for hidden in ("bmV3", "\"h\"", "payload"):
            self.assertNotIn(hidden, text)


class Copies(CopyCase):
    def test_a_copy_runs_at_once_and_the_task_stays(self):
        task_id = self.put(delay=HOUR, priority=7, max_attempts=3, key="k")
        copy = self.call("CopyTask", task_id)
        self.assertEqual((copy.queue, copy.priority, copy.max_attempts, copy.key,
                          state_name(copy.state)), ("from", 7, 3, "", "READY"))
        [task] = self.client.lease("from")
        self.assertEqual(task.task_id, copy.task_id)
        self.assertEqual(self.content(task), (b"old", "text/html", {"h": "1"}))
        self.assertEqual(self.client.state(task_id), "SCHEDULED")
        self.assertEqual(self.counts("from"), (1, 0, 1, 0, 0))

    def test_a_copy_goes_to_whoever_waits_in_another_queue(self):
        parked = self.client.lease_later("to", stage="mix")
        copy = self.call("CopyTask", self.put(), queue="to", stage="mix", key="c",
                         new_content=OTHER)
        [task] = parked.result().tasks
        self.assertEqual((task.task_id, task.stage, task.key), (copy.task_id, "mix", "c"))
        self.assertEqual(self.content(task), (b"new", "text/plain", {"h": "2"}))
        for queue in ("from", "to"):
            self.assertEqual(self.audited(queue)[0][0], "CopyTask")

    def test_a_finished_task_is_copied_while_its_payload_is_kept(self):
        self.put()
        [task] = self.client.lease("from")
        self.client.ack(task)
        self.assertEqual(self.whole(self.call("CopyTask", task.task_id).task_id).payload, b"old")
        self.client.update_queue("from", "keep_payloads", keep_payloads=False)
        for task in self.client.lease("from"):
            self.client.ack(task)
        self.assert_refused("FAILED_PRECONDITION", "PAYLOAD_NOT_KEPT", self.call, "CopyTask",
                            task.task_id)
        copy = self.call("CopyTask", task.task_id, new_content=OTHER)
        self.assertEqual(self.whole(copy.task_id).payload, b"new")

    def test_a_failed_and_a_running_task_are_copied(self):
        failed, running = self.failed(), self.put()
        self.client.lease("from")
        for task_id, state in ((failed, "FAILED"), (running, "LEASED")):
            self.assertEqual(self.whole(self.call("CopyTask", task_id).task_id).payload, b"old")
            self.assertEqual(self.client.state(task_id), state)

    def test_what_cannot_be_is_refused_with_the_field(self):
        task_id = self.put()
        self.client.enqueue("to", key="held")
        self.client.create_queue("paused")
        self.client.pause("paused", mode="BOTH")
        held = self.assert_refused("ALREADY_EXISTS", "KEY_EXISTS", self.call, "CopyTask", task_id,
                                   queue="to", key="held")
        self.assertIn("key", str(fields_of(held)))
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.call, "CopyTask", task_id,
                            queue="missing")
        self.assert_refused("NOT_FOUND", "TASK_NOT_FOUND", self.call, "CopyTask", "1-99999999")
        self.assert_refused("FAILED_PRECONDITION", "QUEUE_PAUSED", self.call, "CopyTask", task_id,
                            queue="paused")
        bad = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.call, "CopyTask",
                                  task_id, queue="to", stage="none")
        self.assertEqual(fields_of(bad), ["stage"])
        self.assertEqual(self.counts("from"), (0, 1, 0, 0, 0))
        self.assertEqual(self.counts("to"), (0, 1, 0, 0, 0))


class Moves(CopyCase):
    def test_a_waiting_task_moves_with_all_that_it_has(self):
        task_id = self.put(delay=HOUR, priority=7, max_attempts=3, key="k", version=5)
        before = self.whole(task_id)
        after = self.whole(self.move(task_id, stage="mix").task_id)
        self.assertEqual((after.queue, after.stage, after.key, after.version, after.priority,
                          after.max_attempts, after.schedule_time),
                         ("to", "mix", "k", 5, 7, 3, before.schedule_time))
        self.assertEqual(self.content(after), self.content(before))
        self.assert_refused("NOT_FOUND", "TASK_NOT_FOUND", self.client.task, task_id)
        self.assertEqual((self.counts("from"), self.counts("to")),
                         ((0, 0, 0, 0, 0), (1, 0, 0, 0, 0)))
        # Its key is free here, and held there.
        self.client.enqueue("from", key="k")
        [result] = self.client.enqueue_all("to", [{"key": "k"}])
        self.assertEqual(result.task_id, after.task_id)

    def test_a_failed_task_begins_anew_and_leaves_its_error_group(self):
        task_id = self.failed()
        moved = self.move(task_id, new_content=OTHER)
        [task] = self.client.lease("to")
        self.assertEqual((task.task_id, task.attempt), (moved.task_id, 1))
        self.assertEqual(self.content(task), (b"new", "text/plain", {"h": "2"}))
        self.assertEqual(self.counts("from"), (0, 0, 0, 0, 0))
        request = admin_pb2.ListErrorGroupsRequest(queue="from")
        self.assertEqual(len(self.client.admin.ListErrorGroups(request, timeout=60).groups), 0)

    def test_one_of_many_that_were_enqueued_together_moves(self):
        ids = [result.task_id for result in
               self.client.enqueue_all("from", [{"payload": b"%d" % i} for i in range(40)])]
        moved = self.move(ids[20])
        self.assertEqual(self.whole(moved.task_id).payload, b"20")
        rest = self.client.lease("from", max_tasks=40)
        self.assertEqual([task.task_id for task in rest], ids[:20] + ids[21:])
        self.assertEqual(self.counts("from"), (0, 0, 39, 0, 0))

    def test_a_periodic_task_keeps_its_schedule(self):
        task_id = self.put(cron="0 6 * * *", time_zone="Europe/Berlin", catch_up="CATCH_UP_RUN_ALL")
        before = self.client.task(task_id)
        after = self.move(task_id)
        self.assertEqual((after.recurrence, after.schedule_time),
                         (before.recurrence, before.schedule_time))

    def test_what_runs_has_ended_or_is_paused_does_not_move(self):
        task_id = self.put()
        [task] = self.client.lease("from")
        self.assert_wrong_state("MoveTask", task_id, queue="to")
        self.client.ack(task)
        self.assert_wrong_state("MoveTask", task_id, queue="to")
        periodic = self.put(period=HOUR, delay=HOUR)
        self.call("PauseTask", periodic)
        self.assert_wrong_state("MoveTask", periodic, queue="to")
        error = self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.call, "MoveTask",
                                    self.put(), queue="from")
        self.assertEqual(fields_of(error), ["queue"])

    def test_a_key_that_is_held_there_leaves_the_task_here(self):
        self.client.enqueue("to", key="k")
        task_id = self.put(key="k")
        self.assert_refused("ALREADY_EXISTS", "KEY_EXISTS", self.call, "MoveTask", task_id,
                            queue="to")
        self.assertEqual(self.client.state(task_id), "READY")
        self.assertEqual(self.client.lease("from")[0].task_id, task_id)

    def test_a_repeat_finds_the_new_task_although_the_old_one_is_gone(self):
        task_id, request_id = self.put(), new_id()
        first = self.move(task_id, request_id=request_id)
        self.assertEqual(self.move(task_id, request_id=request_id).task_id, first.task_id)
        self.client.admin.DeleteTask(admin_pb2.DeleteTaskRequest(task_id=first.task_id), timeout=60)
        self.assertEqual(self.move(task_id, request_id=request_id).task_id, first.task_id)
        self.assertEqual(self.counts("to"), (0, 0, 0, 0, 0))

    def test_of_moves_and_leases_at_once_one_has_the_task(self):
        other = self.client_of(self.start_broker())
        for _ in range(20):
            task_id, won = self.put(), []

            def move(client):
                request = admin_pb2.MoveTaskRequest(task_id=task_id, queue="to")
                try:
                    won.append(client.admin.MoveTask(request, timeout=60).task.task_id)
                except Exception:  # pylint: disable=broad-except
                    pass  # the counts below tell
            movers = [threading.Thread(target=move, args=(client,))
                      for client in (self.client, other)]
            for mover in movers:
                mover.start()
            leased = other.lease("from", wait=0)
            for mover in movers:
                mover.join()
            self.assertEqual(len(won) + len(leased), 1)
            for task in (*leased, *(self.client.lease("to") if won else ())):
                self.client.ack(task)
        self.assertEqual(self.counts("from")[:3], (0, 0, 0))


class Schedules(CopyCase):
    def list(self, **fields):
        return self.client.admin.ListSchedules(admin_pb2.ListSchedulesRequest(**fields),
                                               timeout=60)

    def test_periodic_tasks_of_all_queues_stand_by_planned_time(self):
        self.put(), self.put(delay=HOUR)
        ids = [self.client.enqueue(queue, delay=seconds(delay), period=HOUR)
               for queue, delay in (("from", 300), ("to", 100), ("from", 200))]
        self.call("PauseTask", ids[2])
        tasks = self.list().tasks
        self.assertEqual([task.task_id for task in tasks], [ids[1], ids[2], ids[0]])
        self.assertEqual([task.queue for task in tasks], ["to", "from", "from"])
        self.assertEqual([task.recurrence.paused for task in tasks], [False, True, False])
        self.assertEqual([task.task_id for task in self.list(queue="to").tasks], [ids[1]])
        self.assert_refused("NOT_FOUND", "QUEUE_NOT_FOUND", self.list, queue="missing")

    def test_pages_follow_each_other(self):
        ids = [self.client.enqueue("from", delay=seconds(100 + i), period=HOUR) for i in range(5)]
        found, token = [], ""
        while True:
            page = self.list(page_size=2, page_token=token)
            found += [task.task_id for task in page.tasks]
            token = page.next_page_token
            if not token:
                break
        self.assertEqual(found, ids)
        token = self.list(page_size=2).next_page_token
        self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.list, queue="from",
                            page_token=token)


class CopiesByHttp(ByHttp, Copies):
    pass


class MovesByHttp(ByHttp, Moves):
    pass


class SchedulesByHttp(ByHttp, Schedules):
    pass


if __name__ == "__main__":
    unittest.main()
