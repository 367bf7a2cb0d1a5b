"""The ground of tests of declared schedules: a queue, declarations, and planned times as read."""

from support.case import SystemTest
from support.client import DEADLINE_S, admin_pb2, broker_pb2, seconds, task_pb2

QUEUE = "schedules"
HOUR = 3600
MICROSECONDS = 10**6


def declaration(payload=b"one", period=HOUR, key="daily", **fields):
    if "cron" not in fields:
        fields["period"] = seconds(period)
    return broker_pb2.NewTask(payload=payload, key=key, key_policy="KEY_POLICY_SCHEDULE", **fields)


class DeclareTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def declare(self, *arguments, client=None, **fields):
        [result] = (client or self.client).enqueue_all(QUEUE, [declaration(*arguments, **fields)])
        if client is None:
            self.assertEqual(result.state, self.view(result.task_id).state)
        outcome = broker_pb2.EnqueueOutcome.Name(result.outcome)
        return outcome.removeprefix("ENQUEUE_OUTCOME_"), result.task_id

    def admin(self, method, task_id, **fields):
        request = getattr(admin_pb2, f"{method}Request")(task_id=task_id, **fields)
        return getattr(self.client.admin, method)(request, timeout=DEADLINE_S)

    def view(self, task_id):
        return self.admin("GetTask", task_id, view=task_pb2.TASK_VIEW_FULL).task

    def planned(self, task_id):
        """The planned time that the task has, in microseconds; the preview begins with it."""
        task = self.view(task_id)
        planned = task.recurrence.planned_time.ToMicroseconds()
        if task.state == task_pb2.TASK_STATE_SCHEDULED and not task.recurrence.paused:
            preview = self.admin("PreviewSchedule", task_id, count=1).planned_times
            self.assertEqual(preview[0].ToMicroseconds(), planned)
            self.assertEqual(task.schedule_time.ToMicroseconds(), planned)
        return planned

    def take(self, **fields):
        [task] = self.client.lease(QUEUE, **fields)
        return task

    def assert_idle(self):
        self.assertEqual(self.client.lease(QUEUE, wait=0), [])

    def first_run(self, *arguments, **fields):
        """A declared task that has run once, and waits."""
        outcome, task_id = self.declare(*arguments, **fields)
        self.assertEqual(outcome, "CREATED")
        self.assertEqual(self.client.ack(self.take()), ["SETTLED"])
        self.assert_idle()
        return task_id

    def assert_between(self, planned, before, period):
        """It is one period after a moment between `before` and now, as the database counts."""
        now = self.now()
        self.assertTrue(before <= planned - period * MICROSECONDS <= now, (before, planned, now))

    def now(self):
        return self.database.number(
            "SELECT (date_part('epoch', clock_timestamp()) * 1e6)::int8")
