"""Bad calls are refused with the right code and reason, write nothing, and harm nobody."""

import unittest

import grpc

from support.by_http import ByHttp
from support.case import SystemTest
from support.client import (DEADLINE_S, admin_pb2, broker_pb2, fields_of, lease_request, new_id,
                            queue_pb2, reason_of, seconds, task_pb2)

QUEUE = "strict"
FIELD = ("INVALID_ARGUMENT", "INVALID_FIELD")
TOKEN = ("INVALID_ARGUMENT", "INVALID_LEASE_TOKEN")
NO_QUEUE = ("NOT_FOUND", "QUEUE_NOT_FOUND")
LONG = "x" * 10000


def task(**fields):
    return broker_pb2.NewTask(**fields)


class BadInput(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)
        self.client.enqueue(QUEUE, b"held")
        [self.held] = self.client.lease(QUEUE, worker_id="w")
        self.before = self.picture()

    def picture(self):
        return self.database.picture() + self.database.run(
            "SELECT count(*), max(version), sum(pause_mode) FROM skiplane.queue")

    def assert_all_refused(self, refusal, calls):
        """`calls`: method and request by what is wrong. Afterwards a good call works."""
        for wrong, (method, request) in calls.items():
            with self.subTest(wrong):
                self.assert_refused(*refusal, method, request, timeout=DEADLINE_S)
        self.assertEqual(self.picture(), self.before)
        self.client.enqueue(QUEUE, b"good")
        [good] = self.client.lease(QUEUE, worker_id="w")
        self.assertEqual(good.payload, b"good")
        self.assertEqual(self.client.ack(good, self.held), ["SETTLED", "SETTLED"])

    def enqueues(self, **requests):
        return {name: (self.client.broker.Enqueue, broker_pb2.EnqueueRequest(**fields))
                for name, fields in requests.items()}

    def test_an_enqueue_out_of_range(self):
        self.assert_all_refused(FIELD, self.enqueues(
            no_queue={"tasks": [task()]},
            bad_queue={"queue": "a/b", "tasks": [task()]},
            no_tasks={"queue": QUEUE},
            many_tasks={"queue": QUEUE, "tasks": [task()] * 1001},
            long_request_id={"queue": QUEUE, "tasks": [task()], "request_id": LONG},
            big_payload={"queue": QUEUE, "tasks": [task(payload=b"x" * (1 << 20) + b"x")]},
            long_key={"queue": QUEUE, "tasks": [task(key=LONG)]},
            key_with_nul={"queue": QUEUE, "tasks": [task(key="a\0b")]},
            priority={"queue": QUEUE, "tasks": [task(priority=32768)]},
            attempts={"queue": QUEUE, "tasks": [task(max_attempts=1001)]},
            negative_attempts={"queue": QUEUE, "tasks": [task(max_attempts=-1)]},
            no_attempts={"queue": QUEUE, "tasks": [task(max_attempts=0)]},
            no_version={"queue": QUEUE, "tasks": [task(key="k", version=0)]},
            task_queue={"queue": QUEUE, "tasks": [task(queue="no name!")]},
            one_without_queue={"tasks": [task(queue=QUEUE), task()]},
            schedule_once={"queue": QUEUE, "tasks": [task(key="k",
                                                          key_policy="KEY_POLICY_SCHEDULE")]},
            schedule_version={"queue": QUEUE, "tasks": [task(
                key="k", key_policy="KEY_POLICY_SCHEDULE", cron="@daily", version=1)]},
            negative_delay={"queue": QUEUE, "tasks": [task(delay=seconds(-1))]},
            far_delay={"queue": QUEUE, "tasks": [task(delay=seconds(11 * 366 * 86400))]},
            many_headers={"queue": QUEUE,
                          "tasks": [task(headers={f"h{n}": "" for n in range(65)})]},
            long_header={"queue": QUEUE, "tasks": [task(headers={"h": LONG})]},
            content_type={"queue": QUEUE, "tasks": [task(content_type=LONG)]}))

    def test_one_bad_item_among_five_hundred(self):
        good = [task(payload=b"x", key=f"k{number}") for number in range(499)]
        self.assert_all_refused(FIELD, self.enqueues(
            first={"queue": QUEUE, "tasks": [task(priority=99999)] + good},
            middle={"queue": QUEUE, "tasks": good[:250] + [task(key=LONG)] + good[250:]},
            last={"queue": QUEUE, "tasks": good + [task(max_attempts=1001)]}))
        self.client.enqueue(QUEUE, b"held")
        [self.held] = self.client.lease(QUEUE, worker_id="w")
        self.before = self.picture()
        tokens = [broker_pb2.AckItem(lease_token=self.held.lease_token)] * 499
        bad = broker_pb2.AckItem(lease_token=b"nonsense")
        self.assert_all_refused(TOKEN, {
            "ack": (self.client.broker.Ack, broker_pb2.AckRequest(items=tokens + [bad])),
            "settle": (self.client.broker.Settle, broker_pb2.SettleRequest(
                items=[broker_pb2.SettleItem(ack=item) for item in tokens + [bad]]))})

    def test_a_queue_that_does_not_exist(self):
        admin, name = self.client.admin, "nowhere"
        settings = queue_pb2.QueueSettings(keep_results=True)
        self.assert_all_refused(NO_QUEUE, {
            "enqueue": (self.client.broker.Enqueue,
                        broker_pb2.EnqueueRequest(queue=name, tasks=[task()])),
            "lease": (self.client.broker.Lease, lease_request(name)),
            "get": (admin.GetQueue, admin_pb2.GetQueueRequest(name=name)),
            "update": (admin.UpdateQueue,
                       admin_pb2.UpdateQueueRequest(name=name, settings=settings)),
            "pause": (admin.PauseQueue, admin_pb2.PauseQueueRequest(name=name)),
            "resume": (admin.ResumeQueue, admin_pb2.ResumeQueueRequest(name=name))})

    def test_an_unknown_queue_of_several_is_named_by_its_entry(self):
        lease = lease_request(QUEUE, worker_id="w")
        lease.queues.add(name="nowhere", weight=1)
        ack = broker_pb2.AckRequest(items=[broker_pb2.AckItem(lease_token=self.held.lease_token)],
                                    lease_next=lease)
        enqueue = broker_pb2.EnqueueRequest(queue="nowhere", tasks=[task()])
        for call, request, field in ((self.client.broker.Lease, lease, "queues[1].name"),
                                     (self.client.broker.Ack, ack, "lease_next.queues[1].name"),
                                     (self.client.broker.Enqueue, enqueue, "queue")):
            with self.subTest(field):
                error = self.assert_refused(*NO_QUEUE, call, request, timeout=DEADLINE_S)
                self.assertEqual(fields_of(error), [field])
                self.assertTrue(error.details().startswith(field + ": "), error.details())
        self.assertEqual(self.picture(), self.before)

    def test_a_lease_out_of_range(self):
        def lease(queue=QUEUE, **fields):
            return self.client.broker.Lease, lease_request(queue, **fields)
        queues = [broker_pb2.LeaseQueue(name=f"q{number}") for number in range(65)]
        self.assert_all_refused(FIELD, {
            "no queue": (self.client.broker.Lease, broker_pb2.LeaseRequest(max_tasks=1)),
            "many queues": (self.client.broker.Lease,
                            broker_pb2.LeaseRequest(max_tasks=1, queues=queues)),
            "twice": (self.client.broker.Lease, broker_pb2.LeaseRequest(
                max_tasks=1, queues=[broker_pb2.LeaseQueue(name=QUEUE)] * 2)),
            "no tasks": lease(max_tasks=0), "many tasks": lease(max_tasks=1001),
            "long wait": lease(wait=61), "negative wait": lease(wait=-1),
            "short lease": lease(duration=0.5), "long lease": lease(duration=43201),
            "bytes": lease(max_bytes=-1), "worker": lease(worker_id=LONG),
            "worker name": lease(worker_name=LONG),
            "request": lease(worker_id="w", request_id=LONG)})

    def test_a_share_of_a_lease_out_of_range_is_blamed_by_its_entry(self):
        for field in ("max_tasks", "weight"):
            for value in (-1, 1001):
                request = lease_request(QUEUE, worker_id="w")
                request.queues.add(name="other", **{field: value})
                with self.subTest(field=field, value=value):
                    error = self.assert_refused(*FIELD, self.client.broker.Lease, request,
                                                timeout=DEADLINE_S)
                    self.assertEqual(fields_of(error), [f"queues[1].{field}"])
        self.assertEqual(self.picture(), self.before)

    def test_settling_out_of_range(self):
        token = self.held.lease_token
        many = [broker_pb2.AckItem(lease_token=token)] * 1001
        self.assert_all_refused(FIELD, {
            "empty ack": (self.client.broker.Ack, broker_pb2.AckRequest()),
            "many acks": (self.client.broker.Ack, broker_pb2.AckRequest(items=many)),
            "empty nack": (self.client.broker.Nack, broker_pb2.NackRequest()),
            "no worker": (self.client.broker.Heartbeat, broker_pb2.HeartbeatRequest()),
            "heartbeat": (self.client.broker.Heartbeat, broker_pb2.HeartbeatRequest(
                worker_id="w", lease_duration=seconds(0.1)))})

    def test_items_out_of_range_are_refused_alone(self):
        for field, fields in {"retry_delay": [{"retry_delay": seconds(86401)},
                                              {"retry_delay": seconds(-1)},
                                              {"disposition": 2, "retry_delay": seconds(1)}],
                              "disposition": [{"disposition": 99}]}.items():
            for one in fields:
                with self.subTest(one):
                    item = broker_pb2.NackItem(lease_token=self.held.lease_token, **one)
                    [result] = self.client.broker.Nack(broker_pb2.NackRequest(items=[item]),
                                                       timeout=90).results
                    self.assertEqual((result.outcome, result.refusal.reason, result.refusal.field),
                                     (broker_pb2.SETTLE_OUTCOME_REFUSED, "INVALID_FIELD", field))
        self.assertEqual(self.picture(), self.before)

    def test_one_long_error_costs_its_neighbours_nothing_and_is_kept_cut(self):
        ids = [self.client.enqueue(QUEUE, b"", key=f"e{number}") for number in range(3)]
        items = [broker_pb2.NackItem(lease_token=task.lease_token)
                 for task in self.client.lease(QUEUE, max_tasks=3)]
        items[1].error.type = "t" * 70_000
        items[1].error.text = ("x" * 65535 + "\N{EURO SIGN}").encode()
        items[1].error.fingerprint = "f" * 300
        results = self.client.broker.Nack(broker_pb2.NackRequest(items=items), timeout=90).results
        self.assertEqual([result.outcome for result in results],
                         [broker_pb2.SETTLE_OUTCOME_SETTLED] * 3)
        error = self.client.task(ids[1]).last_error
        self.assertEqual((error.type, error.text, error.fingerprint),
                         ("t" * 256, b"x" * 65535, "f" * 256))

    def test_a_heartbeat_with_a_long_progress_message_is_a_heartbeat(self):
        progress = task_pb2.TaskProgress(fraction=0.5, message="m" * 5000)
        answer = self.client.broker.Heartbeat(broker_pb2.HeartbeatRequest(
            worker_id="w", leases=[broker_pb2.HeldLease(lease_token=self.held.lease_token,
                                                        progress=progress)]), timeout=90)
        self.assertTrue(answer.session_alive)
        self.assertEqual(self.client.task(self.held.task_id).progress.message, "m" * 1024)

    def test_a_malformed_token(self):
        token = self.held.lease_token
        flipped = bytes([token[0]]) + bytes([token[1] ^ 1]) + token[2:]
        calls = {}
        for name, bad in {"empty": b"", "cut": token[:-1], "longer": token + b"x",
                          "changed": flipped, "made up": b"nonsense", "huge": b"x" * 5000}.items():
            calls[f"ack {name}"] = (self.client.broker.Ack, broker_pb2.AckRequest(
                items=[broker_pb2.AckItem(lease_token=bad)]))
            calls[f"nack {name}"] = (self.client.broker.Nack, broker_pb2.NackRequest(
                items=[broker_pb2.NackItem(lease_token=bad)]))
            calls[f"heartbeat {name}"] = (self.client.broker.Heartbeat, broker_pb2.HeartbeatRequest(
                worker_id="w", leases=[broker_pb2.HeldLease(lease_token=bad)]))
        self.assert_all_refused(TOKEN, calls)

    def test_settings_out_of_range(self):
        def create(name="new", **settings):
            return self.client.admin.CreateQueue, admin_pb2.CreateQueueRequest(
                name=name, settings=queue_pb2.QueueSettings(**settings))
        retry = queue_pb2.RetryPolicy
        self.assert_all_refused(FIELD, {
            "no name": create(""), "reserved": create("__x"), "long": create("x" * 129),
            "slash": create("a/b"), "payload": create(max_payload_bytes=(1 << 20) + 1),
            "no payload": create(max_payload_bytes=0),
            "lease": create(lease_duration=seconds(0.5)),
            "attempts": create(retry=retry(max_attempts=1001)),
            "no attempts": create(retry=retry(max_attempts=0)),
            "no days": create(history_days=0), "failed for no days": create(failed_days=0),
            "delay": create(retry=retry(base_delay=seconds(86401))),
            "factor": create(retry=retry(kind=3, factor=11)),
            "no factor": create(retry=retry(kind=3, factor=0)),
            "jitter": create(retry=retry(jitter=0.6)),
            "table": create(retry=retry(kind=4, delays=[seconds(1)] * 101)),
            "lane_count": (self.client.admin.CreateQueue,
                           admin_pb2.CreateQueueRequest(name="new", lane_count=65)),
            "page": (self.client.admin.ListQueues, admin_pb2.ListQueuesRequest(page_size=-1)),
            "token": (self.client.admin.ListQueues,
                      admin_pb2.ListQueuesRequest(page_token="nonsense")),
            "task": (self.client.admin.GetTask, admin_pb2.GetTaskRequest(task_id=""))})

    def test_a_get_of_a_task_out_of_range(self):
        held = self.held.task_id
        self.assert_all_refused(FIELD, {
            name: (self.client.admin.GetTask, admin_pb2.GetTaskRequest(**fields))
            for name, fields in {
                "neither": {}, "id and key": {"task_id": held, "queue": QUEUE, "key": "k"},
                "id and queue": {"task_id": held, "queue": QUEUE},
                "queue alone": {"queue": QUEUE}, "key alone": {"key": "k"},
                "bad queue": {"queue": "a/b", "key": "k"},
                "long key": {"queue": QUEUE, "key": LONG},
                "long wait": {"task_id": held, "wait": seconds(61)},
                "negative wait": {"task_id": held, "wait": seconds(-1)},
                "token of a key": {"queue": QUEUE, "key": "k", "attempts_page_token": "t"},
            }.items()})

    def test_a_token_of_another_installation_settles_nothing(self):
        other = ForeignInstallation("setUp")
        SystemTest.setUp(other)
        self.addCleanup(other.doCleanups)
        _, client = other.start()
        client.create_queue(QUEUE)
        client.enqueue_all(QUEUE, [task(), task()])
        same_id, unknown_id = client.lease(QUEUE, max_tasks=2, worker_id=new_id())
        self.assertEqual(same_id.task_id, self.held.task_id, "the case that this test is about")
        for foreign in (same_id, unknown_id):
            for call, arguments in ((self.client.ack, (foreign,)), (self.client.nack, (foreign,)),
                                    (self.client.heartbeat, ("w", 30, self.held, foreign))):
                with self.assertRaises(grpc.RpcError) as caught:
                    call(*arguments)
                self.assertEqual(reason_of(caught.exception), "INVALID_LEASE_TOKEN")
        self.assertEqual(self.picture(), self.before)
        self.assertEqual(self.client.ack(self.held), ["SETTLED"])


class ForeignInstallation(SystemTest):
    """A second database with a broker."""


class BadInputByHttp(ByHttp, BadInput):
    pass


if __name__ == "__main__":
    unittest.main()
