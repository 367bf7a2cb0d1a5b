"""What callers may do: every role with every method, on its own queue, another one and one that is
not there, by gRPC and by HTTP."""

import json
import subprocess
import threading
import time
import unittest

import grpc

from support.broker import program
from support.case import SystemTest, leases_begun
from support.client import DEADLINE_S, admin_pb2, broker_pb2, new_id, reason_of
from support.folder import Folder
from support.http import HttpClient
from support.http_case import ANY_PORT
from support.process import GENEROUS_S
from google.protobuf import json_format, symbol_database  # isort: skip  (after the client's)

OWN, OTHER, MISSING = "own-jobs", "other-jobs", "missing-jobs"
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
    "AdminService/UpdateQueue": ("admin", {"name": "{queue}", "settings": {"keepResults": True}}),
    "AdminService/PauseQueue": ("admin", {"name": "{queue}", "mode": "PAUSE_MODE_LEASE"}),
    "AdminService/ResumeQueue": ("admin", {"name": "{queue}"}),
    "AdminService/GetQueue": ("read", {"name": "{queue}"}),
    "AdminService/ListQueues": ("read", None),
    "AdminService/GetTask": ("read", {"taskId": "{task}"}),
    "AdminService/ListTasks": ("read", {"filter": {"queue": "{queue}"}}),
    "AdminService/ExplainTask": ("read", {"taskId": "{task}"}),
    "AdminService/PreviewSchedule": ("read", {"taskId": "{task}"}),
    "AdminService/GetBulkOperation": ("read", {"operationId": "{operation}"}),
    "AdminService/ListBulkOperations": ("read", None),
    "AdminService/ListErrorGroups": ("read", {"queue": "{queue}"}),
    "AdminService/GetStatistics": ("read", {"queue": "{queue}"}),
    "AdminService/ListAuditRecords": ("read", {"queue": "{queue}"}),
    "AdminService/PrioritizeTask": ("operate", {"taskId": "{task}", "priority": 1}),
    "AdminService/RescheduleTask": ("operate", {"taskId": "{task}", "postpone": "60s"}),
    "AdminService/RetryTask": ("operate", {"taskId": "{task}"}),
    "AdminService/PauseTask": ("operate", {"taskId": "{task}"}),
    "AdminService/ResumeTask": ("operate", {"taskId": "{task}"}),
    "AdminService/TriggerTask": ("operate", {"taskId": "{task}"}),
    "AdminService/CancelTask": ("operate", {"taskId": "{task}"}),
    "AdminService/DeleteTask": ("operate", {"taskId": "{task}"}),
    "AdminService/StartBulkOperation": (
        "operate", {"filter": {"queue": "{queue}", "all": True}, "action": {"runNow": {}}}),
    "AdminService/RetryErrorGroup": ("operate", {"queue": "{queue}", "fingerprint": "x"}),
    "AdminService/StopBulkOperation": ("operate", {"operationId": "{operation}"}),
}
# Those that need the verb on all queues, and the one that needs none.
ALL_QUEUES = {"AdminService/ListWorkers": "read"}
FREE = {"AdminService/WhoAmI"}


def filled(value, places):
    if isinstance(value, dict):
        return {key: filled(item, places) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, places) for item in value]
    return value.format(**places) if isinstance(value, str) else value


class RulesTest(SystemTest):
    RULES = ""
    TOKENS = ()

    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        lines, self.tokens = [], {}
        for name in ("root", *self.TOKENS):
            made = subprocess.run([program(), "make-token", name], check=True, text=True,
                                  capture_output=True).stdout.splitlines()
            self.tokens[name] = made[0]
            lines.append(made[1])
        self.files.write("tokens", "\n".join(lines))
        self.files.write("rules", f"allow token:root to all on *\n{self.RULES}")
        self.broker = self.start_broker(
            f"--token-file={self.files.path('tokens')}",
            f"--rules-file={self.files.path('rules')}", "--auto-create-queues", http=ANY_PORT)
        self.channel = grpc.insecure_channel(self.broker.address)
        self.addCleanup(self.channel.close)
        self.http = HttpClient(self.broker.http_address)
        self.addCleanup(self.http.close)

    def by_grpc(self, who, method, body):
        """The answer as JSON's dictionary, or (code, reason, message)."""
        service, name = method.split("/")
        api = (broker_pb2 if service == "BrokerService" else admin_pb2).DESCRIPTOR
        kinds = api.services_by_name[service].methods_by_name[name]
        made = symbol_database.Default()
        request = json_format.ParseDict(body, made.GetSymbol(kinds.input_type.full_name)())
        answer = made.GetSymbol(kinds.output_type.full_name)
        try:
            return json_format.MessageToDict(self.channel.unary_unary(
                f"/skiplane.v1.{method}", response_deserializer=answer.FromString)(
                    request.SerializeToString(), timeout=DEADLINE_S,
                    metadata=[("authorization", f"Bearer {self.tokens[who]}")]))
        except grpc.RpcError as error:
            return error.code().name.lower(), reason_of(error), error.details()

    def by_http(self, who, method, body):
        answer = self.http.call(method, body, Authorization=f"Bearer {self.tokens[who]}")
        if answer.status == 200:
            return answer.json()
        return answer.code(), answer.reason(), answer.json()["message"]

    def root(self, method, **body):
        return self.by_http("root", method, body)

    def put(self, queue, **task):
        return self.root("BrokerService/Enqueue", queue=queue, tasks=[task])["results"][0]["taskId"]

    def bulk(self, queue):
        return self.root("AdminService/StartBulkOperation", action={"runNow": {}}, dryRun=True,
                         filter={"queue": queue, "all": True})["operation"]["operationId"]

    def assert_denied(self, said, told=None):
        self.assertIsInstance(said, tuple, told)
        self.assertEqual(said[:2], ("permission_denied", "ACCESS_DENIED"), told)


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
        self.assertEqual(methods, {*METHODS, *ALL_QUEUES, *FREE})

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
        for method, verb in ALL_QUEUES.items():
            for who in self.TOKENS:
                said = call(who, method, {})
                with self.subTest(method=method, who=who):
                    self.assertEqual(isinstance(said, dict), who == "everywhere", said)
        # What was refused has made no queue.
        names = {queue["name"] for queue in self.root("AdminService/ListQueues")["queues"]}
        self.assertEqual(names, {OWN, OTHER, MISSING})  # the last one by who may

    def test_every_role_with_every_method_by_grpc(self):
        self.check(self.by_grpc)

    def test_every_role_with_every_method_by_http(self):
        self.check(self.by_http)


class Parts(RulesTest):
    """Calls of which a part is forbidden."""
    TOKENS = ("worker", "reader", "auditor", "changer")
    RULES = """
group workers = token:worker
allow group:workers to enqueue, lease on own-*
allow token:reader to read on own-*
allow token:auditor to read, read_payload on own-*
allow token:changer to operate on own-*
"""

    def both(self, who, method, **body):
        said = self.by_grpc(who, method, body)
        self.assertEqual(self.by_http(who, method, body), said)
        return said

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

    def test_a_filter_does_not_answer_guesses_of_what_the_caller_may_not_see(self):
        self.put(OWN, key="k-1", headers={"h": "x"})
        by_header = {"queue": OWN, "headers": {"h": "x"}}
        self.assert_denied(self.both("reader", "AdminService/ListTasks", filter=by_header))
        self.assertEqual(len(self.both("auditor", "AdminService/ListTasks",
                                       filter=by_header)["tasks"]), 1)
        for narrow in (by_header, {"queue": OWN, "keyPrefix": "k"}):
            self.assert_denied(self.both("changer", "AdminService/StartBulkOperation",
                                         filter=narrow, action={"runNow": {}}, dryRun=True))

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

    def test_a_withdrawn_worker_settles_what_it_holds_and_leases_no_more(self):
        for _ in range(2):
            self.put(OWN)
        lease = {"queues": [{"name": OWN}], "maxTasks": 2, "workerId": "w"}
        held = [{"leaseToken": task["leaseToken"]} for task in
                self.by_grpc("worker", "BrokerService/Lease", lease)["tasks"]]
        self.replace_rules("allow token:root to all on *\nallow token:worker to lease on none\n")
        self.assert_denied(self.both("worker", "BrokerService/Lease", **lease))
        renewed = self.both("worker", "BrokerService/Heartbeat", workerId="w", leases=held)
        self.assertTrue(renewed["sessionAlive"])
        [result] = self.by_grpc("worker", "BrokerService/Ack", {"items": held[:1]})["results"]
        self.assertEqual(result["outcome"], "SETTLE_OUTCOME_SETTLED")
        self.replace_rules("allow token:root to all on *\n")
        self.assert_denied(self.both("worker", "BrokerService/Ack", items=held[1:]))

    def replace_rules(self, text):
        seen = self.broker.output.count(" reloaded ")
        self.files.write("rules", text)
        self.broker.wait_for_output(" reloaded ", times=seen + 1)

    def test_the_log_says_that_strangers_are_refused(self):
        self.tokens["stranger"] = "skt_unknown"
        for _ in range(20):
            self.both("stranger", "AdminService/WhoAmI")
        self.broker.wait_for_output("warn callers_refused peer=")
        [line] = [line for line in self.broker.output.splitlines() if "callers_refused" in line]
        self.assertRegex(line, r'callers_refused peer=ipv4:127\.0\.0\.1:\d+ method="" '
                               r"reason=CREDENTIALS_INVALID$")

    def test_the_log_names_who_is_denied(self):
        self.assert_denied(self.both("reader", "AdminService/GetQueue", name=OTHER))
        self.broker.wait_for_output("warn callers_refused principal=token:reader "
                                    "method=skiplane.v1.AdminService/GetQueue "
                                    "reason=ACCESS_DENIED\n")

    def test_rules_count_at_once_when_their_file_changes(self):
        self.assert_denied(self.both("reader", "AdminService/GetQueue", name=OTHER))
        self.put(OTHER)
        self.files.write("rules", "allow token:reader to read on *\n")
        self.broker.wait_for_output("reloaded ")
        self.assertIn("queue", self.both("reader", "AdminService/GetQueue", name=OTHER))
        self.files.write("rules", "allow token:reader to fly on *\n")
        self.broker.wait_for_output("reload_failed")
        self.assertIn("line 1", self.broker.output)
        self.assertIn("queue", self.both("reader", "AdminService/GetQueue", name=OTHER))


    def test_who_waits_for_tasks_has_them_no_more_once_its_right_is_taken_away(self):
        self.put(OWN)
        lease = {"queues": [{"name": OWN}], "maxTasks": 1}
        self.assertIn("tasks", self.by_grpc("worker", "BrokerService/Lease", lease))
        waiting = []
        caller = threading.Thread(target=lambda: waiting.append(
            self.by_grpc("worker", "BrokerService/Lease", {**lease, "wait": "50s"})))
        caller.start()
        self.addCleanup(caller.join)
        end = time.monotonic() + GENEROUS_S
        while leases_begun(self.broker) < 2:
            self.assertLess(time.monotonic(), end)
        self.files.write("rules", "allow token:root to all on *\n")
        self.broker.wait_for_output("reloaded ")
        task = self.put(OWN)
        caller.join()
        self.assertNotIn("tasks", waiting[0])
        said = self.root("BrokerService/Lease", **lease)
        self.assertEqual([leased["taskId"] for leased in said["tasks"]], [task])


if __name__ == "__main__":
    unittest.main()
