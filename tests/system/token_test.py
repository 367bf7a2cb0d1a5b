"""Lease tokens that cannot be forged or stolen, and workers that belong to their principals: each
step by which a stranger once settled other workers' leases, by gRPC and by HTTP."""

import subprocess
import time
import unittest
import zlib

import grpc

from support.broker import program
from support.by_http import ByHttp
from support.case import SystemTest, slow
from support.client import (DEADLINE_S, admin_pb2, broker_pb2, lease_request, reason_of,
                            task_pb2)
from support.folder import Folder
from support.process import GENEROUS_S

QUEUE = "jobs"
BARE_BYTES, MAC_BYTES = 55, 16  # of a token of an ordinary task


def as_caller(token):
    """Metadata that proves who calls."""
    return [("authorization", f"Bearer {token}")]


@slow
class Forged(SystemTest):
    """Where nobody has to prove anything: the token is what proves."""

    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()
        self.client.create_queue(QUEUE)

    def refusal(self, call, request):
        with self.assertRaises(grpc.RpcError) as caught:
            call(request, timeout=DEADLINE_S)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        return reason_of(caught.exception)

    def refused_everywhere(self, token):
        """By every call that takes a token."""
        api = self.client.broker
        for call, request in (
                (api.Ack, broker_pb2.AckRequest(items=[{"lease_token": token}])),
                (api.Nack, broker_pb2.NackRequest(items=[{"lease_token": token}])),
                (api.Settle, broker_pb2.SettleRequest(items=[{"ack": {"lease_token": token}}])),
                (api.Settle, broker_pb2.SettleRequest(items=[{"nack": {"lease_token": token}}])),
                (api.Settle, broker_pb2.SettleRequest(items=[{"release": {"lease_token": token}}])),
                (api.Heartbeat, broker_pb2.HeartbeatRequest(
                    worker_id="w", leases=[{"lease_token": token}]))):
            self.assertEqual(self.refusal(call, request), "INVALID_LEASE_TOKEN")

    def test_a_token_that_is_changed_in_any_part_is_refused(self):
        self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE, worker_id="w")
        token = task.lease_token
        self.assertEqual(len(token), BARE_BYTES + 2 + MAC_BYTES)
        for place in (8, 16, 24, 40, 45, BARE_BYTES, len(token) - 1):
            changed = bytearray(token)
            changed[place] ^= 1
            self.refused_everywhere(bytes(changed))
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def test_who_knows_all_that_a_token_says_cannot_make_one(self):
        """The session by a lease of the same worker, the number by the lease time, the checksum."""
        victim = self.client.enqueue(QUEUE)
        [held] = self.client.lease(QUEUE, worker_id="w")
        self.client.enqueue(QUEUE)
        [own] = self.client.lease(QUEUE, worker_id="w")
        bare = bytearray(own.lease_token[:BARE_BYTES - 4])
        view = self.client.admin.GetTask(admin_pb2.GetTaskRequest(task_id=victim),
                                         timeout=DEADLINE_S).task
        lane, number = victim.split("-")
        bare[1:9] = int(lane).to_bytes(8, "big")
        bare[9:17] = int(number).to_bytes(8, "big")
        bare[17:25] = view.lease_time.ToMicroseconds().to_bytes(8, "big")
        made = bytes(bare) + zlib.crc32(bytes(bare)).to_bytes(4, "big")
        self.assertEqual(made[:25], held.lease_token[:25])  # so it was right
        for end in (b"", own.lease_token[BARE_BYTES:], held.lease_token[BARE_BYTES:BARE_BYTES + 2]
                    + bytes(MAC_BYTES)):
            self.refused_everywhere(made + end)
        self.assertEqual(self.client.ack(held), ["SETTLED"])

    def test_brokers_share_the_key_and_a_new_one_signs_while_old_tokens_live(self):
        self.client.enqueue_all(QUEUE, [broker_pb2.NewTask() for _ in range(4)])
        [first] = self.client.lease(QUEUE)
        other, its_client = self.start()
        self.assertEqual(its_client.ack(first), ["SETTLED"])
        [old] = self.client.lease(QUEUE)
        self.database.run("UPDATE skiplane.token_key SET use_time = now() - interval '25 hours'")
        for broker in (self.broker, other):
            broker.terminate()
        self.broker, self.client = self.start()  # its chores make the next key
        self.database.eventually("SELECT count(*) FROM skiplane.token_key", "2")
        [before] = self.client.lease(QUEUE)
        self.assertEqual(before.lease_token[BARE_BYTES:BARE_BYTES + 2], b"\x00\x01")
        self.database.run("UPDATE skiplane.token_key SET use_time = now() WHERE id = 2")
        after = self.lease_until_signed_by(b"\x00\x02")
        self.assertEqual(self.client.ack(old, before, after), ["SETTLED"] * 3)

    def lease_until_signed_by(self, key):
        """Brokers read the keys every few seconds."""
        end = time.monotonic() + GENEROUS_S
        while time.monotonic() < end:
            [task] = self.client.lease(QUEUE)
            if task.lease_token[BARE_BYTES:BARE_BYTES + 2] == key:
                return task
            self.client.nack(task, disposition="RELEASE")
        raise AssertionError(f"nothing was signed by {key}")

    def test_a_key_that_a_lease_may_need_stays_and_one_that_none_needs_goes(self):
        self.client.enqueue(QUEUE)
        [held] = self.client.lease(QUEUE, worker_id="w", duration=GENEROUS_S * 10)
        self.broker.terminate()
        self.database.run(
            "UPDATE skiplane.token_key SET use_time = now() - interval '9 days';"
            " INSERT INTO skiplane.token_key VALUES (2, sha256('2'), now() - interval '3 days')")
        # As if it had been leased before the second key signed.
        numbers = self.database.value("SELECT lease_numbers::text FROM skiplane.lease_ledger")
        self.database.run("UPDATE skiplane.lease_ledger SET lease_numbers = '{1}'")
        broker, _ = self.start()
        self.database.eventually("SELECT max(id) FROM skiplane.token_key", "3")
        broker.terminate()
        self.assertEqual(self.database.number("SELECT min(id) FROM skiplane.token_key"), 1)
        self.database.run(f"UPDATE skiplane.lease_ledger SET lease_numbers = '{numbers}'")
        broker, client = self.start()
        self.assertEqual(client.ack(held), ["SETTLED"])
        broker.terminate()
        self.database.run("UPDATE skiplane.token_key SET use_time = now() - interval '2 days'"
                          " WHERE id = 3")
        self.start()
        self.database.eventually("SELECT min(id) FROM skiplane.token_key", "3")

    def test_a_broker_that_could_not_read_the_next_key_asks_to_repeat(self):
        self.client.enqueue(QUEUE)
        [task] = self.client.lease(QUEUE, worker_id="w")
        token = task.lease_token[:BARE_BYTES] + b"\x00\x02" + bytes(MAC_BYTES)
        self.assertEqual(self.refusal_of(token), ("INVALID_ARGUMENT", "INVALID_LEASE_TOKEN"))
        self.database.run("REVOKE SELECT ON skiplane.token_key FROM skiplane_broker")
        self.broker.wait_for_output("token_keys_unread")
        self.assertEqual(self.refusal_of(token), ("UNAVAILABLE", "DATABASE_UNAVAILABLE"))
        self.assertEqual(self.client.ack(task), ["SETTLED"])

    def refusal_of(self, token):
        ack = broker_pb2.AckRequest(items=[{"lease_token": token}])
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.broker.Ack(ack, timeout=DEADLINE_S)
        return caught.exception.code().name, reason_of(caught.exception)

    def test_the_database_and_the_logs_know_no_worker_by_its_id(self):
        self.broker.terminate()
        broker, client = self.start("--log-level=debug")
        client.enqueue(QUEUE), client.enqueue(QUEUE)
        request = lease_request(QUEUE, worker_id="canary_worker", request_id="canary_request",
                                worker_name="ann", wait=60)
        [task] = client.broker.Lease(request, timeout=DEADLINE_S).tasks
        [again] = client.broker.Lease(request, timeout=DEADLINE_S).tasks
        self.assertEqual(task.task_id, again.task_id)
        progress = task_pb2.TaskProgress(fraction=0.5)
        client.broker.Heartbeat(broker_pb2.HeartbeatRequest(worker_id="canary_worker", leases=[
            broker_pb2.HeldLease(lease_token=task.lease_token, progress=progress)]),
            timeout=DEADLINE_S)
        dump = self.database.run(
            "SELECT query_to_xml('SELECT * FROM ' || t::regclass, true, false, '')::text"
            " FROM unnest(ARRAY['skiplane.worker_session', 'skiplane.lease_ledger',"
            " 'skiplane.task']) AS t")
        self.assertEqual(len(dump), 3)
        self.assertIn("ann", dump[0][0])
        for text in (*(table for (table,) in dump), broker.output):
            self.assertNotIn("canary", text)


class ForgedByHttp(ByHttp, Forged):
    pass


class Stolen(SystemTest):
    """Two principals that may both lease in the queue."""

    def setUp(self):
        super().setUp()
        files = Folder()
        self.addCleanup(files.remove)
        made = [subprocess.run([program(), "make-token", name], check=True, text=True,
                               capture_output=True).stdout.splitlines() for name in ("ann", "bob")]
        self.ann, self.bob = (as_caller(token) for token, _ in made)
        path = files.write("tokens", "".join(f"{line}\n" for _, line in made))
        self.broker = self.start_broker(f"--token-file={path}", "--auto-create-queues")
        self.client = self.client_of(self.broker)

    def call(self, who, name, request):
        return getattr(self.client.broker, name)(request, timeout=DEADLINE_S, metadata=who)

    def put(self):
        self.call(self.ann, "Enqueue", broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[broker_pb2.NewTask()]))

    def lease(self, who, **fields):
        return self.call(who, "Lease", lease_request(QUEUE, worker_id="same", **fields)).tasks

    def test_a_token_is_good_for_who_got_it_only(self):
        self.put()
        [task] = self.lease(self.ann, wait=60)
        ack = broker_pb2.AckRequest(items=[{"lease_token": task.lease_token}])
        with self.assertRaises(grpc.RpcError) as caught:
            self.call(self.bob, "Ack", ack)
        self.assertEqual(reason_of(caught.exception), "INVALID_LEASE_TOKEN")
        [result] = self.call(self.ann, "Ack", ack).results
        self.assertEqual(result.outcome, broker_pb2.SETTLE_OUTCOME_SETTLED)

    def test_a_worker_of_the_same_id_is_another_one(self):
        self.put()
        [task] = self.lease(self.ann, wait=60, request_id="r")
        self.assertEqual(len(self.lease(self.bob, request_id="r")), 0)  # that is ann's
        for request in (broker_pb2.HeartbeatRequest(worker_id="same"),
                        broker_pb2.HeartbeatRequest(worker_id="same", end_session=True)):
            self.call(self.bob, "Heartbeat", request)
        beat = self.call(self.ann, "Heartbeat", broker_pb2.HeartbeatRequest(
            worker_id="same", leases=[{"lease_token": task.lease_token}]))
        self.assertEqual((beat.session_alive, beat.results[0].state),
                         (True, broker_pb2.LEASE_STATE_HELD))
        [again] = self.lease(self.ann, request_id="r")
        self.assertEqual(again.task_id, task.task_id)


class StolenByHttp(ByHttp, Stolen):
    pass


if __name__ == "__main__":
    unittest.main()
