"""PostgreSQL's disk is full."""

import os
import subprocess
import tempfile
import unittest

import grpc

from support.client import reason_of
from support.fault import FaultTest, MortalCluster

QUEUE = "large"
DISK_MIB = 320
PAYLOAD = os.urandom(500 << 10)
SMALL_WAL = ("max_wal_size = 48MB", "min_wal_size = 32MB", "shared_buffers = 32MB")


class FullDisk(FaultTest):
    own_cluster = SMALL_WAL

    def make_cluster(self):
        self.disk = tempfile.mkdtemp(prefix="skiplane-disk-")
        os.chmod(self.disk, 0o755)
        self.addCleanup(os.rmdir, self.disk)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=755", "tmpfs",
                                self.disk], capture_output=True, text=True, check=False)
        if mount.returncode != 0:
            self.skipTest(f"no small disk can be mounted: {mount.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        return MortalCluster(self.own_cluster, place=self.disk,
                             options=["--wal-segsize=4"])

    def test_enqueues_are_refused_and_nothing_answered_is_lost(self):
        broker, client = self.start()
        client.create_queue(QUEUE)
        ballast = os.path.join(self.disk, "ballast")
        free = os.statvfs(self.disk)
        with open(ballast, "wb") as file:
            file.write(bytes(max(0, free.f_bavail * free.f_bsize - (60 << 20))))
        made = self.enqueue_until_refused(client)
        self.assertTrue(broker.runs())
        os.remove(ballast)
        made.append(client.enqueue(QUEUE, PAYLOAD))
        left = set(made)
        while left:
            tasks = client.lease(QUEUE, max_tasks=2)
            self.assertEqual(client.ack(*tasks), ["SETTLED"] * len(tasks))
            left -= {task.task_id for task in tasks}
        self.assertEqual(client.lease(QUEUE, wait=0), [])

    def enqueue_until_refused(self, client):
        """The ids of those that were answered."""
        made = []
        while True:
            try:
                made.append(client.enqueue(QUEUE, PAYLOAD))
            except grpc.RpcError as error:
                self.assertEqual((error.code().name, reason_of(error)),
                                 ("RESOURCE_EXHAUSTED", "DATABASE_FULL"), error)
                return made


if __name__ == "__main__":
    unittest.main()
