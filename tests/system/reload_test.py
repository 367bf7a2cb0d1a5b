"""SIGHUP: the log level and the TLS files as they are now, without an end to anything."""

import signal
import time
import unittest

import grpc

from support import broker as brokers
from support.case import SystemTest, leases_begun, slow
from support.client import DEADLINE_S, broker_pb2, broker_pb2_grpc
from support.folder import Folder
from support.process import GENEROUS_S, Process

QUEUE = "mail"
MIGRATION_LOCK = "SELECT pg_advisory_xact_lock(8316857068445331045)"


@slow
class Reload(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)

    def configure(self, level):
        return self.files.write("settings", f"log-level = {level}\n")

    def reload(self, program, answer):
        program.signal(signal.SIGHUP)
        program.wait_for_output(answer)

    def test_debug_is_switched_on_and_off_in_a_running_broker(self):
        broker, client = self.start(f"--config={self.configure('info')}")
        client.create_queue(QUEUE)
        self.assertNotIn(" debug ", broker.output)
        self.configure("debug")
        self.reload(broker, 'reloaded log_level=debug log_level_from="file or default" tls=off'
                            ' access=open changed=""\n')
        client.enqueue(QUEUE)
        client.ack(*client.lease(QUEUE))
        for event in ("leased", "settled", "chore", "sessions_renewed"):
            broker.wait_for_output(f" debug {event} ")
        self.configure("warn")
        self.reload(broker, "reloaded log_level=warn ")
        client.enqueue(QUEUE)
        client.ack(*client.lease(QUEUE))
        self.configure("info")
        self.reload(broker, "reloaded log_level=info ")
        silent = broker.output.split("reloaded log_level=warn ")[1]
        self.assertNotIn(" debug leased ", silent)
        self.assertEqual(broker.terminate(), 0)

    def test_a_flag_wins_over_the_file_and_the_log_says_so(self):
        broker = self.start_broker(f"--config={self.configure('info')}", "--log-level=info")
        self.configure("debug")
        self.reload(broker, "reloaded log_level=info log_level_from=flag ")

    def test_a_file_that_is_not_right_changes_nothing(self):
        broker, client = self.start(f"--config={self.configure('info')}")
        self.files.write("settings", "log-level = debug\nlissten = x\n")
        self.reload(broker, "error reload_failed ")
        self.assertNotIn(" debug ", broker.output)
        client.create_queue(QUEUE)

    def test_settings_that_need_a_restart_are_told(self):
        broker = self.start_broker(f"--config={self.configure('info')}")
        self.files.write("settings", "log-level = info\nmax-connections = 77\n")
        self.reload(broker, "warn restart_needed settings=max-connections ")

    def test_what_changed_is_named_and_what_failed_is_on_the_page(self):
        rule = "allow everyone to all on *\n"
        self.files.write("rules", rule)
        self.files.write("tokens", f"ci sha256:{'0' * 64}\n")
        broker = self.start_broker(f"--token-file={self.files.path('tokens')}",
                                   f"--rules-file={self.files.path('rules')}")
        self.assertEqual(broker.metrics()["skiplane_last_reload_succeeded"], 1)
        self.files.write("rules", "allow nobody\n")
        broker.wait_for_output(" reload_failed ")
        self.wait_for_metric(broker, 0)
        self.files.write("rules", f"# new\n{rule}")
        broker.wait_for_output(" access=tokens,rules changed=rules-file\n")
        self.wait_for_metric(broker, 1)
        self.files.write("tokens", f"ci sha256:{'1' * 64}\n")
        broker.wait_for_output(" access=tokens,rules changed=token-file\n")

    def wait_for_metric(self, broker, value):
        """The line in the log comes first."""
        end = time.monotonic() + GENEROUS_S
        while broker.metrics()["skiplane_last_reload_succeeded"] != value:
            self.assertLess(time.monotonic(), end)

    def start_with_tls(self):
        self.files.make_pair("server")
        ready = self.files.path("ready")
        program = Process([brokers.program(), f"--database={self.database.uri}",
                           "--listen=127.0.0.1:0", "--metrics-listen=off",
                           f"--ready-file={ready}", f"--tls-cert={self.files.path('server.crt')}",
                           f"--tls-key={self.files.path('server.key')}", "--auto-create-queues"])
        self.addCleanup(program.end)
        program.wait_for_output(" serving ")
        port = self.files.read("ready").decode().split("\n", 1)[0].rsplit(":", 1)[1]
        return program, f"localhost:{port}"

    def enqueue(self, channel):
        broker_pb2_grpc.BrokerServiceStub(channel).Enqueue(
            broker_pb2.EnqueueRequest(queue=QUEUE, tasks=[broker_pb2.NewTask()]),
            timeout=DEADLINE_S, wait_for_ready=True)

    def channel(self, address):
        """Of one who trusts the certificate that is in the file now."""
        channel = grpc.secure_channel(
            address, grpc.ssl_channel_credentials(self.files.read("server.crt")),
            [("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(channel.close)
        return channel

    def test_a_stranger_writes_nothing_into_the_log(self):
        """gRPC's library has lines of its own for each failed handshake."""
        program, address = self.start_with_tls()
        with grpc.insecure_channel(address) as channel:
            with self.assertRaises(grpc.RpcError):
                broker_pb2_grpc.BrokerServiceStub(channel).Enqueue(
                    broker_pb2.EnqueueRequest(queue=QUEUE), timeout=DEADLINE_S)
        self.enqueue(self.channel(address))
        for line in program.output.splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\S+Z info \w+ ?")

    def test_a_new_certificate_is_taken_and_a_broken_one_is_not(self):
        program, address = self.start_with_tls()
        old = self.channel(address)
        self.enqueue(old)
        with open(self.files.path("server.key"), "w", encoding="utf-8") as file:
            file.write("garbage")
        self.reload(program, "error reload_failed ")
        self.enqueue(self.channel(address))
        before = program.output.count("tls_loaded")
        self.files.make_pair("server")
        self.reload(program, "info reloaded ")
        self.assertEqual(program.output.count("tls_loaded"), before + 1)
        self.enqueue(self.channel(address))
        self.enqueue(old)
        self.assertNotIn("PRIVATE", program.output)
        self.assertEqual(program.terminate(), 0)

    def test_a_storm_of_them_fails_no_call(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        for _ in range(100):
            broker.signal(signal.SIGHUP)
            client.enqueue(QUEUE)
        self.assertEqual(len(client.lease(QUEUE, max_tasks=100)), 100)

    def test_who_waits_for_tasks_waits_on(self):
        """Once a storm of them answered a lease that could have had 100 tasks with none."""
        broker, client = self.start()
        client.create_queue(QUEUE)
        lease = client.lease_later(QUEUE)
        end = time.monotonic() + GENEROUS_S
        while leases_begun(broker) < 1:
            self.assertLess(time.monotonic(), end)
        self.reload(broker, "info reloaded ")
        client.enqueue(QUEUE)
        self.assertEqual(len(lease.result().tasks), 1)
        self.assertEqual(broker.terminate(), 0)

    def test_during_a_drain_it_is_of_no_account(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        lock = self.database.hold_writes()
        enqueue = client.broker.Enqueue.future(broker_pb2.EnqueueRequest(
            queue=QUEUE, tasks=[broker_pb2.NewTask()]), timeout=DEADLINE_S)
        self.database.wait_for_lock_wait()
        broker.signal(signal.SIGTERM)
        broker.wait_for_output(" draining ")
        broker.signal(signal.SIGHUP)
        lock.release()
        self.assertEqual(len(enqueue.result().results), 1)
        self.assertEqual(broker.wait(), 0)


class ReloadAtStart(SystemTest):
    is_migrated = False

    def test_during_the_start_it_waits_for_its_turn(self):
        lock = self.database.hold(MIGRATION_LOCK)
        program = Process([brokers.program(), f"--database={self.database.uri}",
                           "--listen=127.0.0.1:0", "--metrics-listen=off"])
        self.addCleanup(program.end)
        self.database.wait_for_lock_wait()
        program.signal(signal.SIGHUP)
        lock.release()
        program.wait_for_output(" reloaded ")
        self.assertEqual(program.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
