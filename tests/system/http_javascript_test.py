"""Connect's own client of JavaScript: the HTTP port speaks its protocol. Skipped without npm."""

import glob
import json
import os
import subprocess
import sys
import unittest

from support.case import slow
from support.client import broker_pb2, task_pb2
from support.http_case import HttpTest
from support.stubs import PROTO, ROOT

sys.path.append(os.path.join(ROOT, "tests", "support"))

import npm  # noqa: E402

SOURCE = os.path.join(ROOT, "tests", "system", "connect")
HEALTH = os.path.join(ROOT, "server", "rpc", "proto")
SERVING = 1


def describe(file):
    """Writes the description of the API, from which the client makes its messages."""
    protos = glob.glob(os.path.join(PROTO, "**", "*.proto"), recursive=True)
    subprocess.run(["protoc", f"-I{PROTO}", f"-I{HEALTH}", "--include_imports",
                    f"--descriptor_set_out={file}", *protos, "grpc/health/v1/health.proto"],
                   check=True)


@slow
@unittest.skipUnless(npm.is_there(), "npm is not installed")
class JavaScript(HttpTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(os.path.abspath(os.environ["SKIPLANE_BUILD_DIR"]), "connect")
        why_not = npm.install(SOURCE, cls.folder)
        if why_not:
            raise unittest.SkipTest(f"npm cannot install Connect's client: {why_not}")
        cls.description = os.path.join(cls.folder, "api.binpb")
        describe(cls.description)

    def test_it_calls_every_kind_of_method_in_both_forms(self):
        for form in ("json", "proto"):
            with self.subTest(form=form):
                result = subprocess.run(
                    ["node", os.path.join(SOURCE, "client.mjs"),
                     f"http://{self.broker.http_address}", self.description, form],
                    cwd=self.folder, capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(json.loads(result.stdout), {
                    "payloads": [[0, 255, 7]],
                    "outcomes": [broker_pb2.SETTLE_OUTCOME_SETTLED],
                    "settled": {
                        "states": [task_pb2.TASK_STATE_SUCCEEDED, task_pb2.TASK_STATE_FAILED,
                                   task_pb2.TASK_STATE_READY, task_pb2.TASK_STATE_UNSPECIFIED],
                        "made": 1,
                        "refused": "INVALID_FIELD ack.next_stage",
                        "next": ["follow"],
                        "noLeaseRefusal": True,
                    },
                    "awaited": [True, task_pb2.TASK_STATE_SUCCEEDED, "42"],
                    "unknown": "NotFound QUEUE_NOT_FOUND queues[1].name",
                    "invalid": "InvalidArgument INVALID_FIELD tasks",
                    "gone": "NotFound TASK_NOT_FOUND",
                    "left": "Canceled",
                    "waited": 0,
                    "statuses": [SERVING],
                })


if __name__ == "__main__":
    unittest.main()
