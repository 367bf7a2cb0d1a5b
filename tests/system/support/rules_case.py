"""Callers with tokens of their own, and rules of what they may do."""

import subprocess

import grpc

from .broker import program
from .case import SystemTest
from .client import DEADLINE_S, admin_pb2, broker_pb2, reason_of
from .folder import Folder
from .http import HttpClient
from .http_case import ANY_PORT
from google.protobuf import json_format, symbol_database  # isort: skip  (after the client's)

OWN, OTHER = "own-jobs", "other-jobs"


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

    def both(self, who, method, **body):
        said = self.by_grpc(who, method, body)
        self.assertEqual(self.by_http(who, method, body), said)
        return said
