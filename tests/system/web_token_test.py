"""Who calls: JSON Web Tokens of an identity provider, by gRPC and by HTTP."""

import base64
import json
import subprocess
import time
import unittest

from access_test import AccessTest
from support.case import slow
from support.client import DEADLINE_S, admin_pb2, broker_pb2, lease_request, reason_of
from support.stream import Worker

LEEWAY_S = 60  # that clocks may differ


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@slow
class WebTokens(AccessTest):
    def setUp(self):
        super().setUp()
        for name in ("idp", "other"):
            self.run_openssl("genrsa", "-out", self.files.path(f"{name}.key"), "2048")
            self.run_openssl("rsa", "-in", self.files.path(f"{name}.key"), "-pubout", "-out",
                             self.files.path(f"{name}.pem"))
        self.serve(f"--jwt-keys={self.files.path('idp.pem')}", "--jwt-issuer=https://idp.example",
                   "--jwt-audience=skiplane")

    @staticmethod
    def run_openssl(*arguments, given=None):
        return subprocess.run(["openssl", *arguments], check=True, capture_output=True,
                              input=given).stdout

    def sign(self, key="idp", algorithm="RS256", **claims):
        claims = {"iss": "https://idp.example", "aud": "skiplane", "sub": "ann",
                  "exp": int(time.time()) + 600, **claims}
        text = ".".join(base64url(json.dumps(part).encode())
                        for part in ({"alg": algorithm}, claims))
        signature = self.run_openssl("dgst", "-sha256", "-sign", self.files.path(f"{key}.key"),
                                     given=text.encode())
        return f"{text}.{base64url(signature)}"

    def begin(self, token, method, request):
        return self.channel.unary_unary(f"/skiplane.v1.{method}").future(
            request.SerializeToString(), timeout=DEADLINE_S,
            metadata=[("authorization", f"Bearer {token}")])

    def expiring(self):
        """A token that is valid for some seconds, and a queue."""
        self.begin(self.sign(), "AdminService/CreateQueue",
                   admin_pb2.CreateQueueRequest(name="mail")).result()
        return self.sign(exp=int(time.time()) + 3 - LEEWAY_S)

    def enqueue_when_over(self, token):
        self.wait_until_said("CREDENTIALS_INVALID", token)
        new = broker_pb2.EnqueueRequest(queue="mail", tasks=[broker_pb2.NewTask()])
        self.begin(self.sign(), "BrokerService/Enqueue", new).result()

    def test_only_tokens_of_the_provider_for_this_broker_in_their_time_count(self):
        self.assertIsNone(self.by_both(self.sign()))
        self.assertIsNone(self.by_both(self.sign(aud=["other", "skiplane"])))
        header, claims, _ = self.sign().split(".")
        none = base64url(b'{"alg":"none"}')
        for token in (self.sign(key="other"), self.sign(iss="https://evil.example"),
                      self.sign(aud="other"), self.sign(exp=int(time.time()) - 120),
                      self.sign(nbf=int(time.time()) + 600), self.sign(algorithm="RS512"),
                      f"{none}.{claims}.", f"{header}.{claims}.AAAA"):
            self.assertEqual(self.by_both(token), "CREDENTIALS_INVALID", token)

    def test_a_token_that_expires_while_its_caller_waits_gets_no_tasks(self):
        expiring = self.expiring()
        waiting = self.begin(expiring, "BrokerService/Lease", lease_request("mail", wait=50))
        self.enqueue_when_over(expiring)
        self.assertEqual(list(broker_pb2.LeaseResponse.FromString(waiting.result()).tasks), [])

    def test_a_token_that_expires_while_its_stream_waits_gets_no_tasks(self):
        expiring = self.expiring()
        worker = Worker(self.client_of(self.broker), "mail", credit=1, token=expiring)
        worker.wait_for_welcome()
        self.enqueue_when_over(expiring)
        self.assertEqual(reason_of(worker.refusal()), "CREDENTIALS_INVALID")
        self.assertEqual(worker.tasks, [])

    def test_the_keys_are_replaced_while_it_runs(self):
        token = self.sign(key="other")
        self.assertEqual(self.by_both(token), "CREDENTIALS_INVALID")
        subprocess.run(["mv", self.files.path("other.pem"), self.files.path("idp.pem")],
                       check=True)
        self.wait_until_said(None, token)
        self.assertEqual(self.by_both(self.sign()), "CREDENTIALS_INVALID")


if __name__ == "__main__":
    unittest.main()
