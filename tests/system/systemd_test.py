"""What a broker tells systemd of itself."""

import os
import signal
import tempfile
import unittest

from support.broker import Broker
from support.case import SystemTest, slow
from support.folder import Folder
from support.notify import NotifySocket


class Systemd(SystemTest):
    def setUp(self):
        super().setUp()
        self.files = Folder()
        self.addCleanup(self.files.remove)
        self.systemd = NotifySocket(self.files.path("notify"))
        self.addCleanup(self.systemd.close)

    def begin(self, *flags, **more):
        return self.start_broker(*flags, env={"NOTIFY_SOCKET": self.systemd.place, **more})

    def reload(self, broker):
        broker.signal(signal.SIGHUP)
        self.assertEqual(self.systemd.hear()[0], "RELOADING=1")
        return self.systemd.hear()

    def test_it_serves_reloads_and_drains(self):
        settings = self.files.write("settings", "log-level = info\n")
        broker = self.begin(f"--config={settings}")
        serving = ["READY=1", "STATUS=serving gRPC at 127.0.0.1:0"]
        self.assertEqual(self.systemd.hear(), serving)
        self.assertEqual(self.systemd.sender, broker.pid)
        self.assertEqual(self.reload(broker), serving)
        self.files.write("settings", "log-level = loud\n")
        self.assertEqual(self.reload(broker), [
            "READY=1", serving[1] + "; the last reload failed and changed nothing"])
        self.assertEqual(broker.terminate(), 0)
        self.assertEqual(self.systemd.hear(), ["STOPPING=1", "STATUS=draining"])
        self.assertEqual(self.systemd.hear(0), [])

    def test_one_that_is_frozen_is_silent(self):
        broker = self.begin(WATCHDOG_USEC="100000")
        for _ in range(5):
            self.systemd.wait_for("WATCHDOG=1")
        broker.freeze()
        while self.systemd.hear(0):  # what it had sent before
            pass
        self.assertEqual(self.systemd.hear(1), [])
        broker.thaw()
        self.systemd.wait_for("WATCHDOG=1")

    @slow
    def test_its_embedded_postgresql_does_not_say_that_it_is_ready(self):
        with tempfile.TemporaryDirectory(prefix="skiplane-embedded-") as folder:
            os.chmod(folder, 0o755)
            os.chmod(os.path.dirname(self.systemd.place), 0o755)  # PostgreSQL's account gets there
            broker = Broker(f"--embedded={folder}/data",
                            env={"NOTIFY_SOCKET": self.systemd.place})
            self.addCleanup(broker.end)
            self.assertEqual(self.systemd.hear()[0], "READY=1")
            self.assertEqual(self.systemd.sender, broker.pid)
            self.assertEqual(broker.terminate(), 0)
            self.assertEqual(self.systemd.hear()[0], "STOPPING=1")
            self.assertEqual(self.systemd.hear(0), [])


if __name__ == "__main__":
    unittest.main()
