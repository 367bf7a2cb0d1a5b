"""PostgreSQL's disk is full."""

import os
import subprocess
import tempfile
import unittest

import grpc

from support.client import reason_of
from support.fault import FaultTest, MortalCluster
from support.packs import PACKING, packed_count, put_packed

QUEUE, PACKED = "large", "packed"
DISK_MIB = 320
PAYLOAD = os.urandom(500 << 10)
# As many bytes, which fill packs of 16 tasks.
PAYLOADS = [PAYLOAD[start : start + 4000] for start in range(0, 128 * 4000, 4000)]
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
        client.create_queue(PACKED, **PACKING)
        made = {QUEUE: [], PACKED: put_packed(self.database, client, PACKED, PAYLOADS)}
        ballast = os.path.join(self.disk, "ballast")
        free = os.statvfs(self.disk)
        with open(ballast, "wb") as file:
            file.write(bytes(max(0, free.f_bavail * free.f_bsize - (60 << 20))))
        self.enqueue_until_refused(client, made)
        self.assertTrue(broker.runs())
        os.remove(ballast)
        made[QUEUE].append(client.enqueue(QUEUE, PAYLOAD))
        self.assertEqual(packed_count(self.database), len(made[PACKED]))
        self.assertGreater(len(made[PACKED]), len(PAYLOADS))
        for queue, most in ((QUEUE, 2), (PACKED, 100)):
            left = set(made[queue])
            while left:
                tasks = client.lease(queue, max_tasks=most)
                self.assertEqual(client.ack(*tasks), ["SETTLED"] * len(tasks))
                left -= {task.task_id for task in tasks}
            self.assertEqual(client.lease(queue, wait=0), [])

    def enqueue_until_refused(self, client, made):
        """Adds the ids of those that were answered."""
        while True:
            # Else the log of changes may be what no longer fits, and PostgreSQL ends.
            self.database.run("CHECKPOINT")
            try:
                made[QUEUE].append(client.enqueue(QUEUE, PAYLOAD))
                tasks = [client.new_task(payload) for payload in PAYLOADS]
                made[PACKED] += [each.task_id for each in client.enqueue_all(PACKED, tasks)]
            except grpc.RpcError as error:
                self.assertEqual((error.code().name, reason_of(error)),
                                 ("RESOURCE_EXHAUSTED", "DATABASE_FULL"), error)
                return


if __name__ == "__main__":
    unittest.main()
