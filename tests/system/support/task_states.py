"""How a task comes from one state into another: a step for each transition. tests/tidy holds the
picture in docs/PROTOCOL.md against the lines `@transition`."""

from support.client import DEADLINE_S, admin_pb2, broker_pb2, new_id, queue_pb2, seconds

LATER = seconds(3600)

# (state before, state after, cause): a generator. It yields the id of a task in the state before,
# then makes the transition; one that makes a new task yields "" first, and its id then.
STEPS = {}


def transition(before, after, cause):
    def add(step):
        STEPS[before, after, cause] = step
        return step
    return add


class Scene:
    """A queue of its own for one transition, with what most of them need."""

    def __init__(self, client, database, queue):
        self.client, self.database, self.queue, self.worker = client, database, queue, new_id()
        client.create_queue(queue)

    def change(self, method, task_id, **fields):
        request = getattr(admin_pb2, f"{method}Request")(task_id=task_id, **fields)
        return getattr(self.client.admin, method)(request, timeout=DEADLINE_S)

    def made(self, method, task_id, **fields):
        """The id of the new task."""
        return self.change(method, task_id, **fields).task.task_id

    def other_queue(self):
        name = f"{self.queue}-other"
        self.client.create_queue(name)
        return name

    def put(self, **fields):
        return self.client.enqueue(self.queue, b"x", **fields)

    def run(self, sql):
        self.database.run(sql)

    @staticmethod
    def row(task_id):
        lane, number = task_id.split("-")
        return f"lane = {lane} AND id = {number}"

    def leased(self, **fields):
        task_id = self.put(**fields)
        [task] = self.client.lease(self.queue, worker_id=self.worker)
        assert task.task_id == task_id
        return task

    def ended(self, cause):
        """The id of a finished task with a key."""
        task = self.leased(key="k")
        if cause == "ack":
            self.client.ack(task)
        elif cause == "fail":
            self.client.nack(task, "FAIL")
        else:
            self.change("CancelTask", task.task_id)
            self.client.nack(task)
        return task.task_id


@transition("[*]", "READY", "Enqueue")
def enqueue(scene):
    yield ""
    yield scene.put()


@transition("[*]", "SCHEDULED", "Enqueue with a delay")
def enqueue_with_a_delay(scene):
    yield ""
    yield scene.put(delay=LATER)


@transition("[*]", "READY", "CopyTask")
def copy(scene):
    task = scene.leased()
    yield ""
    yield scene.made("CopyTask", task.task_id)


@transition("[*]", "READY", "MoveTask, at its new place")
def move_to(scene):
    task_id = scene.put()
    yield ""
    yield scene.made("MoveTask", task_id, queue=scene.other_queue())


@transition("[*]", "SCHEDULED", "MoveTask of a scheduled task, at its new place")
def move_a_scheduled_one_to(scene):
    task_id = scene.put(delay=LATER)
    yield ""
    yield scene.made("MoveTask", task_id, queue=scene.other_queue())


@transition("SCHEDULED", "READY", "its time comes")
def time_comes(scene):
    task_id = scene.put(delay=LATER)
    yield task_id
    scene.run(f"UPDATE skiplane.task SET schedule_time = clock_timestamp()"
              f" WHERE {scene.row(task_id)}")


@transition("SCHEDULED", "READY", "RescheduleTask")
def run_now(scene):
    task_id = scene.put(delay=LATER)
    yield task_id
    scene.change("RescheduleTask", task_id, run_now={})


@transition("SCHEDULED", "READY", "RetryTask")
def retry_now(scene):
    task = scene.leased()
    scene.client.nack(task, retry_delay=LATER)
    yield task.task_id
    scene.change("RetryTask", task.task_id)


@transition("SCHEDULED", "READY", "TriggerTask")
def trigger(scene):
    task_id = scene.put(period=LATER, delay=LATER)
    yield task_id
    scene.change("TriggerTask", task_id)


@transition("READY", "SCHEDULED", "RescheduleTask")
def postpone(scene):
    task_id = scene.put()
    yield task_id
    scene.change("RescheduleTask", task_id, postpone=LATER)


@transition("READY", "LEASED", "Lease")
def lease(scene):
    task_id = scene.put()
    yield task_id
    scene.client.lease(scene.queue, duration=600)


@transition("LEASED", "SUCCEEDED", "Ack")
def ack(scene):
    task = scene.leased()
    yield task.task_id
    scene.client.ack(task)


@transition("LEASED", "READY", "Ack, to another stage")
def ack_to_a_stage(scene):
    names = ("first", "second")
    scene.client.update_queue(scene.queue, "stages",
                              stages=[queue_pb2.Stage(name=name) for name in names])
    task = scene.leased()
    yield task.task_id
    scene.client.ack_results(task)


@transition("LEASED", "SCHEDULED", "Ack of a periodic task")
def ack_of_a_periodic_task(scene):
    task = scene.leased(period=LATER)
    yield task.task_id
    scene.client.ack(task)


@transition("LEASED", "READY", "Ack of a periodic task with RUN_ALL that missed a time")
def ack_after_a_missed_time(scene):
    task = scene.leased(period=LATER, catch_up="CATCH_UP_RUN_ALL")
    scene.run("UPDATE skiplane.task SET planned_time = planned_time - interval '1 day'"
              f" WHERE {scene.row(task.task_id)}")
    yield task.task_id
    scene.client.ack(task)


@transition("LEASED", "READY", "newer content came")
def newer_content(scene):
    fields = dict(key="k", key_policy=broker_pb2.KEY_POLICY_RERUN_IF_NEWER)
    task = scene.leased(version=1, **fields)
    scene.put(version=2, **fields)
    yield task.task_id
    scene.client.ack(task)


@transition("LEASED", "SCHEDULED", "Nack RETRY")
def nack(scene):
    task = scene.leased()
    yield task.task_id
    scene.client.nack(task)


@transition("LEASED", "FAILED", "Nack RETRY, the last attempt")
def nack_of_the_last_attempt(scene):
    task = scene.leased(max_attempts=1)
    yield task.task_id
    scene.client.nack(task)


@transition("LEASED", "FAILED", "Nack FAIL")
def fail(scene):
    task = scene.leased()
    yield task.task_id
    scene.client.nack(task, "FAIL")


@transition("LEASED", "SCHEDULED", "Nack FAIL of a periodic task")
def fail_a_periodic_one(scene):
    task = scene.leased(period=LATER)
    yield task.task_id
    scene.client.nack(task, "FAIL")


@transition("LEASED", "SCHEDULED", "Nack RETRY of a periodic task, the last attempt")
def nack_of_a_periodic_one(scene):
    task = scene.leased(period=LATER, max_attempts=1)
    yield task.task_id
    scene.client.nack(task)


@transition("LEASED", "READY", "Nack RELEASE")
def release(scene):
    task = scene.leased()
    yield task.task_id
    scene.client.nack(task, "RELEASE")


@transition("LEASED", "READY", "end_session")
def end_session(scene):
    task = scene.leased()
    yield task.task_id
    scene.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(
        worker_id=scene.worker, end_session=True), timeout=DEADLINE_S)


def lose(scene, task_id):
    yield task_id
    scene.database.expire_sessions(
        f"id = (SELECT t.session FROM skiplane.task t WHERE {scene.row(task_id)})")


@transition("LEASED", "READY", "worker lost")
def lose_an_attempt(scene):
    yield from lose(scene, scene.leased().task_id)


@transition("LEASED", "FAILED", "worker lost, the last attempt")
def lose_the_last_attempt(scene):
    yield from lose(scene, scene.leased(max_attempts=1).task_id)


@transition("LEASED", "SCHEDULED", "worker of a periodic task lost, the last attempt")
def lose_a_periodic_one(scene):
    yield from lose(scene, scene.leased(period=LATER, max_attempts=1).task_id)


def hang(scene, task_id):
    yield task_id
    scene.client.update_queue(scene.queue, "max_run_duration", max_run_duration=seconds(1))


@transition("LEASED", "READY", "hanged")
def hang_in_an_attempt(scene):
    yield from hang(scene, scene.leased().task_id)


@transition("LEASED", "FAILED", "hanged, the last attempt")
def hang_in_the_last_attempt(scene):
    yield from hang(scene, scene.leased(max_attempts=1).task_id)


@transition("LEASED", "SCHEDULED", "periodic task hanged, the last attempt")
def hang_in_a_periodic_one(scene):
    yield from hang(scene, scene.leased(period=LATER, max_attempts=1).task_id)


@transition("READY", "CANCELLED", "CancelTask")
def cancel(scene):
    task_id = scene.put()
    yield task_id
    scene.change("CancelTask", task_id)


@transition("SCHEDULED", "CANCELLED", "CancelTask")
def cancel_a_scheduled_one(scene):
    task_id = scene.put(delay=LATER)
    yield task_id
    scene.change("CancelTask", task_id)


@transition("LEASED", "CANCELLED", "CancelTask, then any end but a last ack")
def cancel_a_running_one(scene):
    task = scene.leased()
    scene.change("CancelTask", task.task_id)
    yield task.task_id
    scene.client.nack(task)


@transition("FAILED", "READY", "RetryTask")
def retry_a_failed_one(scene):
    task_id = scene.ended("fail")
    yield task_id
    scene.change("RetryTask", task_id)


def start_again(scene, task_id):
    policy = broker_pb2.KEY_POLICY_KEEP_UNFINISHED
    assert scene.put(key="k", key_policy=policy) == task_id


@transition("FAILED", "READY", "Enqueue of its key")
def enqueue_the_key_of_a_failed_one(scene):
    task_id = scene.ended("fail")
    yield task_id
    start_again(scene, task_id)


@transition("SUCCEEDED", "READY", "Enqueue of its key")
def enqueue_the_key_of_a_succeeded_one(scene):
    task_id = scene.ended("ack")
    yield task_id
    start_again(scene, task_id)


@transition("CANCELLED", "READY", "Enqueue of its key")
def enqueue_the_key_of_a_cancelled_one(scene):
    task_id = scene.ended("cancel")
    yield task_id
    start_again(scene, task_id)


@transition("READY", "[*]", "DeleteTask")
def delete(scene):
    task_id = scene.put()
    yield task_id
    scene.change("DeleteTask", task_id)


@transition("SCHEDULED", "[*]", "DeleteTask")
def delete_a_scheduled_one(scene):
    task_id = scene.put(delay=LATER)
    yield task_id
    scene.change("DeleteTask", task_id)


@transition("FAILED", "[*]", "DeleteTask")
def delete_a_failed_one(scene):
    scene.client.update_queue(scene.queue, "history", history="HISTORY_POLICY_NONE")
    task_id = scene.ended("fail")
    yield task_id
    scene.change("DeleteTask", task_id)


@transition("READY", "[*]", "MoveTask")
def move(scene):
    task_id = scene.put()
    yield task_id
    scene.change("MoveTask", task_id, queue=scene.other_queue())


@transition("SCHEDULED", "[*]", "MoveTask")
def move_a_scheduled_one(scene):
    task_id = scene.put(delay=LATER)
    yield task_id
    scene.change("MoveTask", task_id, queue=scene.other_queue())


@transition("FAILED", "[*]", "MoveTask")
def move_a_failed_one(scene):
    scene.client.update_queue(scene.queue, "history", history="HISTORY_POLICY_NONE")
    task_id = scene.ended("fail")
    yield task_id
    scene.change("MoveTask", task_id, queue=scene.other_queue())
