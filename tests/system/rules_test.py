"""What callers may do: every role with every method, on its own queue, another one and one that is
not there, by gRPC and by HTTP."""

import json
import unittest

import grpc

from support.case import slow
from support.client import Client, admin_pb2, broker_pb2, new_id, reason_of
from support.rules_case import OTHER, OWN, RulesTest
from support.stream import Producer, Worker
from support.watch import Watch

MISSING = "missing-jobs"
VERBS = ("enqueue", "lease", "read", "read_payload", "operate", "admin")
# Each method's verb, and its request about a queue, or about a task or an operation of it
# ("{task}", "{operation}"). None: about no queue, so that the verb on any queue is enough.
METHODS = {
    "BrokerService/Enqueue": ("enqueue", {"queue": "{queue}", "tasks": [{}]}),
    "BrokerService/Lease": ("lease", {"queues": [{"name": "{queue}"}], "maxTasks": 1}),
    "BrokerService/Ack": ("lease", None),
    "BrokerService/Nack": ("lease", None),
    "BrokerService/Settle": ("lease", None),
    "BrokerService/Heartbeat": ("lease", None),
    "AdminService/CreateQueue": ("admin", {"name": "{queue}"}),
    "AdminService/DeleteQueue": ("admin", {"name": "{queue}", "etag": "stale"}),
    "AdminService/UpdateQueue": ("admin", {"name": "{queue}", "settings": {"keepResults": True}}),
    "AdminService/PauseQueue": ("admin", {"name": "{queue}", "mode": "PAUSE_MODE_LEASE"}),
    "AdminService/ResumeQueue": ("admin", {"name": "{queue}"}),
    "AdminService/GetQueue": ("read", {"name": "{queue}"}),
    "AdminService/ListQueues": ("read", None),
    "AdminService/ListQueueSummaries": ("read", None),
    "AdminService/GetTask": ("read", {"taskId": "{task}"}),
    "AdminService/ListTasks": ("read", {"filter": {"queue": "{queue}"}}),
    "AdminService/ExplainTask": ("read", {"taskId": "{task}"}),
    "AdminService/PreviewSchedule": ("read", {"taskId": "{task}"}),
    "AdminService/ListSchedules": ("read", {"queue": "{queue}"}),
    "AdminService/GetBulkOperation": ("read", {"operationId": "{operation}"}),
    "AdminService/ListBulkOperations": ("read", None),
    "AdminService/ListErrorGroups": ("read", {"queue": "{queue}"}),
    "AdminService/GetStatistics": ("read", {"queue": "{queue}"}),
    "AdminService/GetMinuteStatistics": ("read", {"queue": "{queue}"}),
    "AdminService/ListAuditRecords": ("read", {"queue": "{queue}"}),
    "AdminService/PrioritizeTask": ("operate", {"taskId": "{task}", "priority": 1}),
    "AdminService/RescheduleTask": ("operate", {"taskId": "{task}", "postpone": "60s"}),
    "AdminService/RetryTask": ("operate", {"taskId": "{task}"}),
    "AdminService/CopyTask": (
        "operate and enqueue", {"taskId": "{task}", "queue": "{queue}", "newContent": {}}),
    "AdminService/MoveTask": (
        "operate and enqueue", {"taskId": "{task}", "queue": "{queue}", "newContent": {}}),
    "AdminService/PauseTask": ("operate", {"taskId": "{task}"}),
    "AdminService/ResumeTask": ("operate", {"taskId": "{task}"}),
    "AdminService/TriggerTask": ("operate", {"taskId": "{task}"}),
    "AdminService/CancelTask": ("operate", {"taskId": "{task}"}),
    "AdminService/DeleteTask": ("operate", {"taskId": "{task}"}),
    "AdminService/StartBulkOperation": (
        "operate", {"filter": {"queue": "{queue}", "all": True}, "action": {"runNow": {}}}),
    "AdminService/RetryErrorGroup": ("operate", {"queue": "{queue}", "fingerprint": "x"}),
    "AdminService/AnnotateErrorGroup": (
        "operate", {"queue": "{queue}", "fingerprint": "x", "muted": True}),
    "AdminService/StopBulkOperation": ("operate", {"operationId": "{operation}"}),
}
# Those that need the verb on all queues, and the one that needs none.
ALL_QUEUES = {
    "AdminService/ListWorkers": ("read", {}),
    "AdminService/ListBrokers": ("read", {}),
    "AdminService/GetServerInfo": ("read", {}),
    "AdminService/CommandWorker": (
        "admin", {"workerHandle": "0123456789abcdef", "command": "WORKER_COMMAND_RUN"}),
}
FREE = {"AdminService/WhoAmI"}
STREAMS = {"BrokerService/Work": "lease", "BrokerService/Produce": "enqueue",
           "AdminService/Watch": "read"}


def filled(value, places):
    if isinstance(value, dict):
        return {key: filled(item, places) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, places) for item in value]
    return value.format(**places) if isinstance(value, str) else value


class Matrix(RulesTest):
    TOKENS = ("nobody", *VERBS, "everywhere")
    RULES = "".join(f"allow token:{verb} to {verb} on own-*\n" for verb in VERBS) + \
        "allow token:everywhere to all on *\n"

    def may(self, who, verb, queue):
        return who in ("root", "everywhere") or (who == verb and queue == OWN)

    def test_every_method_is_listed(self):
        methods = {f"{service.name}/{method.name}"
                   for service in (broker_pb2.DESCRIPTOR.services_by_name["BrokerService"],
                                   admin_pb2.DESCRIPTOR.services_by_name["AdminService"])
                   for method in service.methods}
        self.assertEqual(methods, {*METHODS, *ALL_QUEUES, *FREE, *STREAMS})

    def places(self, queue, body):
        """What the request is about: of a task or an operation, a new one."""
        if queue == MISSING:
            return {"queue": MISSING, "task": "1000000-1", "operation": new_id().replace("-", "")}
        places, text = {"queue": queue}, json.dumps(body)
        if "{task}" in text:
            places["task"] = self.put(queue)
        if "{operation}" in text:
            places["operation"] = self.bulk(queue)
        return places

    def check(self, call):
        self.put(OWN), self.put(OTHER)
        for method, (verb, body) in METHODS.items():
            for who in self.TOKENS:
                said = {}
                for queue in (OWN, OTHER, MISSING):
                    with self.subTest(method=method, who=who, queue=queue):
                        request = filled(body or {}, self.places(queue, body))
                        said[queue] = call(who, method, request)
                        if body is None:
                            is_allowed = who in (verb, "everywhere")
                        else:
                            is_allowed = self.may(who, verb, queue)
                        if is_allowed:
                            self.assertNotIn("ACCESS_DENIED", said[queue])
                        else:
                            self.assert_denied(said[queue])
                with self.subTest(method=method, who=who):
                    if who != "everywhere" and body is not None:
                        self.assertEqual(said[MISSING], said[OTHER])  # so it tells of neither
        for method, (_, body) in ALL_QUEUES.items():
            for who in self.TOKENS:
                said = call(who, method, body)
                with self.subTest(method=method, who=who):
                    if who == "everywhere":
                        self.assertNotIn("ACCESS_DENIED", said)
                    else:
                        self.assert_denied(said)
        # What was refused has made no queue.
        names = {queue["name"] for queue in self.root("AdminService/ListQueues")["queues"]}
        self.assertEqual(names, {OWN, OTHER, MISSING})  # the last one by who may

    def test_every_role_with_every_method_by_grpc(self):
        self.check(self.by_grpc)

    def test_every_role_with_every_method_by_http(self):
        self.check(self.by_http)

    def work(self, who, queue):
        worker = Worker(self.client, queue, token=self.tokens[who])
        worker.send_no_more()
        return worker.wait_for_welcome()

    def produce(self, who, queue):
        producer = Producer(self.client, token=self.tokens[who])
        [number] = producer.enqueue(broker_pb2.EnqueueRequest(
            queue=queue, tasks=[broker_pb2.NewTask()]))
        producer.send_no_more()
        return producer.answer(number).refusal.reason

    def watch(self, who, queue):
        watch = Watch(self.client, [queue], self.tokens[who])
        self.addCleanup(watch.close)
        watch.begin()
        return ""

    def test_every_role_with_every_stream(self):
        self.client = Client(self.broker.address)
        self.addCleanup(self.client.close)
        for method, verb in STREAMS.items():
            call = {"Work": self.work, "Produce": self.produce,
                    "Watch": self.watch}[method.split("/")[1]]
            for who in self.TOKENS:
                for queue in (OWN, OTHER, MISSING):
                    with self.subTest(method=method, who=who, queue=queue):
                        try:
                            said = call(who, queue)
                        except grpc.RpcError as error:
                            said = reason_of(error)
                        self.assertEqual(said != "ACCESS_DENIED", self.may(who, verb, queue), said)


@slow
class Parts(RulesTest):
    """Calls of which a part is forbidden."""
    TOKENS = ("worker", "reader", "auditor", "changer", "mender", "stranger")
    RULES = """
group workers = token:worker
allow group:workers to enqueue, lease on own-*
allow token:reader to read on own-*
allow token:auditor to read, read_payload on own-*
allow token:changer to operate on own-*
allow token:mender to operate, enqueue on own-*
allow token:stranger to read on other-*
allow token:stranger to read_payload on own-*
"""

    def test_one_forbidden_queue_refuses_the_whole_call(self):
        queues = [{"queue": OWN}, {"queue": OTHER}]
        for said in (self.both("worker", "BrokerService/Enqueue", tasks=queues),
                     self.both("worker", "BrokerService/Lease", maxTasks=1,
                               queues=[{"name": OWN}, {"name": OTHER}])):
            self.assert_denied(said)
        self.assertIn("tasks[1].queue", self.both("worker", "BrokerService/Enqueue",
                                                  tasks=queues)[2])
        self.assertEqual(self.root("AdminService/ListQueues"), {})

    def test_a_forbidden_follow_up_refuses_its_item_only(self):
        self.put(OWN), self.put(OWN)
        held = self.by_grpc("worker", "BrokerService/Lease", {
            "queues": [{"name": OWN}], "maxTasks": 2})["tasks"]
        tokens = [task["leaseToken"] for task in held]
        for call in (self.by_grpc, self.by_http):
            first, second = call("worker", "BrokerService/Ack", {"items": [
                {"leaseToken": tokens[0], "followUps": [{"queue": OTHER}]},
                {"leaseToken": tokens[1], "followUps": [{"queue": OWN}]}]})["results"]
            self.assertEqual((first["outcome"], first["refusal"]["reason"],
                              first["refusal"]["field"]),
                             ("SETTLE_OUTCOME_REFUSED", "ACCESS_DENIED", "follow_ups[0].queue"))
            self.assertIn(second["outcome"], ("SETTLE_OUTCOME_SETTLED",
                                              "SETTLE_OUTCOME_ALREADY_SETTLED"))
        said = self.both("worker", "BrokerService/Ack", items=[{"leaseToken": tokens[0]}],
                         leaseNext={"queues": [{"name": OTHER}], "maxTasks": 1})
        self.assert_denied(said)
        self.assertIn("lease_next.queues[0].name", said[2])

    def test_payloads_need_a_verb_of_their_own(self):
        self.root("AdminService/CreateQueue", name=OWN,
                  settings={"keepPayloads": True, "keepResults": True})
        task = self.put(OWN, payload="c2VjcmV0")
        [held] = self.root("BrokerService/Lease", queues=[{"name": OWN}], maxTasks=1)["tasks"]
        self.root("BrokerService/Ack", items=[{"leaseToken": held["leaseToken"],
                                               "result": "c2VjcmV0"}])
        other = self.put(OTHER)
        for full in ({"taskId": task, "view": "TASK_VIEW_FULL"},):
            self.assert_denied(self.both("reader", "AdminService/GetTask", **full))
            shown = self.both("auditor", "AdminService/GetTask", attemptsPageSize=1, **full)
            self.assertEqual((shown["attempts"][0]["payload"], shown["attempts"][0]["result"]),
                             ("c2VjcmV0", "c2VjcmV0"))
        shown = self.both("reader", "AdminService/GetTask", taskId=task, attemptsPageSize=1)
        self.assertNotIn("c2VjcmV0", json.dumps(shown))
        self.assertEqual(shown["attempts"][0]["outcome"], "ATTEMPT_OUTCOME_SUCCEEDED")
        self.assert_denied(self.both("reader", "AdminService/ListTasks", filter={"queue": OWN},
                                     view="TASK_VIEW_FULL"))
        self.assert_denied(self.both("auditor", "AdminService/GetTask", taskId=other,
                                     view="TASK_VIEW_FULL"))

    def test_content_is_given_and_taken_only_by_who_may(self):
        task = {"taskId": self.put(OWN)}
        said = self.both("changer", "AdminService/RetryTask", **task, newContent={})
        self.assert_denied(said)
        self.assertIn("new_content", said[2])
        said = self.both("mender", "AdminService/RetryTask", **task, newContent={})
        self.assertEqual(said[1], "WRONG_STATE")
        for method, target in (("CopyTask", OWN), ("CopyTask", ""), ("MoveTask", "own-more")):
            self.put("own-more")
            with self.subTest(method=method, target=target):
                fields = {**task, "queue": target}
                self.assert_denied(self.both("changer", f"AdminService/{method}", **fields,
                                             newContent={}))
                self.assert_denied(self.both("mender", f"AdminService/{method}", **fields))
                self.assert_denied(self.both("mender", f"AdminService/{method}", newContent={},
                                             **{**fields, "queue": OTHER}))
                said = self.by_grpc("mender", f"AdminService/{method}",
                                    {**fields, "newContent": {}})
                self.assertEqual(said["task"]["queue"], target or OWN)
        self.assert_denied(self.both("mender", "AdminService/MoveTask", newContent={},
                                     taskId=self.put(OTHER), queue=OWN))

    def test_payloads_alone_show_no_task(self):
        self.assert_denied(self.both("stranger", "AdminService/GetTask", taskId=self.put(OWN),
                                     view="TASK_VIEW_FULL"))

    def test_a_key_shows_no_task_that_its_number_would_not_show(self):
        for queue in (OWN, OTHER):
            self.put(queue, key="k")
        shown = self.both("reader", "AdminService/GetTask", queue=OWN, key="k")
        self.assertEqual(shown["task"]["key"], "k")
        denied = [self.both("reader", "AdminService/GetTask", queue=queue, key="k")
                  for queue in (OTHER, MISSING)]
        self.assert_denied(denied[0])
        self.assertEqual(denied[0], denied[1])

    def test_a_filter_does_not_answer_guesses_of_what_the_caller_may_not_see(self):
        self.put(OWN, key="k-1", headers={"h": "x"})
        by_header = {"queue": OWN, "headers": {"h": "x"}}
        self.assert_denied(self.both("reader", "AdminService/ListTasks", filter=by_header))
        self.assertEqual(len(self.both("auditor", "AdminService/ListTasks",
                                       filter=by_header)["tasks"]), 1)
        by_payload = {"queue": OWN, "payloadText": "x"}
        self.assert_denied(self.both("reader", "AdminService/ListTasks", filter=by_payload))
        self.both("auditor", "AdminService/ListTasks", filter=by_payload)
        for narrow in (by_header, by_payload, {"queue": OWN, "keyPrefix": "k"}):
            self.assert_denied(self.both("changer", "AdminService/StartBulkOperation",
                                         filter=narrow, action={"runNow": {}}, dryRun=True))

    def test_of_several_queues_each_must_be_seen(self):
        self.put(OWN)
        self.put(OTHER)
        shown = self.both("reader", "AdminService/ListTasks", queues=[OWN])
        self.assertTrue(all(task["queue"] == OWN for task in shown["tasks"]))
        denied = [self.both("reader", "AdminService/ListTasks", queues=[OWN, queue])
                  for queue in (OTHER, MISSING)]
        self.assert_denied(denied[0])
        self.assertEqual(denied[0], denied[1])
        self.assert_denied(self.both("reader", "AdminService/ListTasks", queues=[OWN],
                                     view="TASK_VIEW_FULL"))

    def test_the_filters_of_others_show_nothing_that_the_caller_may_not_see(self):
        self.put(OWN, key="k-1", headers={"h": "x"})
        narrow = {"queue": OWN, "keyPrefix": "k-secret", "headers": {"h": "h-secret"}}
        operation = {"operationId": self.root(
            "AdminService/StartBulkOperation", filter=narrow,
            action={"runNow": {}})["operation"]["operationId"]}

        def shown(who, method, **body):
            texts = [json.dumps(call(who, f"AdminService/{method}", body))
                     for call in (self.by_grpc, self.by_http)]
            for text in texts:
                self.assertIn(OWN, text)
            [found] = {("h-secret" in text, "k-secret" in text) for text in texts}
            return found
        for method, body in (("GetBulkOperation", operation), ("ListBulkOperations", {}),
                             ("ListAuditRecords", {"queue": OWN})):
            self.assertEqual(shown("auditor", method, **body), (True, True), method)
            self.assertEqual(shown("reader", method, **body), (False, True), method)
        self.assertEqual(shown("changer", "StopBulkOperation", **operation), (False, False))

    def test_an_operator_makes_no_queue(self):
        for method, body in (
                ("StartBulkOperation", {"filter": {"queue": "own-new", "all": True},
                                        "action": {"runNow": {}}, "dryRun": True}),
                ("RetryErrorGroup", {"queue": "own-new", "fingerprint": "x"})):
            said = self.both("changer", f"AdminService/{method}", **body)
            self.assertEqual(said[:2], ("not_found", "QUEUE_NOT_FOUND"))
        self.assertEqual(self.root("AdminService/ListQueues"), {})

    def test_lists_show_only_what_the_caller_may_see(self):
        for queue in (OTHER, OWN, "own-more", "z-other"):
            self.put(queue)
            self.bulk(queue)
            self.put(queue, period="3600s")
        planned = self.both("reader", "AdminService/ListSchedules", pageSize=2)
        self.assertEqual([task["queue"] for task in planned["tasks"]], [OWN, "own-more"])
        self.assertNotIn("nextPageToken", planned)
        names, page = [], {}
        while True:
            page = self.both("reader", "AdminService/ListQueues", pageSize=1,
                             pageToken=page.get("nextPageToken", ""))
            names += [queue["name"] for queue in page.get("queues", ())]
            if not page.get("nextPageToken"):
                break
        self.assertEqual(names, [OWN, "own-more"])
        both = self.both("reader", "AdminService/ListQueues", pageSize=2)
        self.assertEqual(([queue["name"] for queue in both["queues"]],
                          both.get("nextPageToken")), (names, None))
        operations = self.both("reader", "AdminService/ListBulkOperations")["operations"]
        self.assertEqual([one["filter"]["queue"] for one in operations], ["own-more", OWN])
        refused = self.both("reader", "AdminService/ListAuditRecords")
        self.assert_denied(refused)
        self.assertIn("name one; that needs `read` on all queues (*)", refused[2])
        self.assert_denied(self.both("reader", "AdminService/ListWorkers"))

    def test_a_forbidden_queue_is_not_made_by_who_may_not(self):
        self.assert_denied(self.both("worker", "BrokerService/Enqueue", queue="new-one",
                                     tasks=[{}]))
        self.assertEqual(self.root("AdminService/ListQueues"), {})
        self.both("worker", "BrokerService/Enqueue", queue="own-new", tasks=[{}],
                  requestId="same for both")
        self.assertEqual(self.root("AdminService/ListQueues")["queues"][0]["name"], "own-new")

    def test_a_repeat_is_asked_for_again_and_is_its_principals(self):
        self.put(OTHER)
        operation = self.bulk(OTHER)
        stop = {"operationId": operation, "requestId": "stop-1"}
        self.assertIn("operation", self.by_http("root", "AdminService/StopBulkOperation", stop))
        self.assert_denied(self.both("changer", "AdminService/StopBulkOperation", **stop))
        own, other = self.put(OWN), self.put(OTHER)
        for who, task in (("root", other), ("changer", own)):  # neither is in the other's way
            said = self.by_grpc(who, "AdminService/CancelTask", {"taskId": task, "requestId": "1"})
            self.assertEqual(said["task"]["taskId"], task)

    def test_who_am_i(self):
        self.assertEqual(self.both("worker", "AdminService/WhoAmI"), {
            "principal": "token:worker", "grants": [
                {"verb": "VERB_ENQUEUE", "queues": ["own-*"]},
                {"verb": "VERB_LEASE", "queues": ["own-*"]}]})


if __name__ == "__main__":
    unittest.main()
