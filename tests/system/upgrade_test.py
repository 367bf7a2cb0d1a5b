"""An upgrade from a broker of an earlier version, under load. SKIPLANE_OLDER names its program, of
0.1 or later; without it nothing is tested here, since a build of one takes minutes."""

import os
import subprocess
import unittest
from unittest import mock

from support import broker as programs
from support.case import SystemTest, slow
from support.load import PACKED, Load
from support.process import GENEROUS_S

OLDER = os.environ.get("SKIPLANE_OLDER")


@slow
@unittest.skipUnless(OLDER, "SKIPLANE_OLDER names no program")
class Upgrade(SystemTest):
    is_migrated = False

    def test_from_an_older_broker_that_freezes_meanwhile(self):
        with mock.patch.dict(os.environ, SKIPLANED=OLDER):
            older = self.start_broker()
        self.migrate()
        newer = self.start_broker()
        Load.create_queues(self.client_of(newer))
        load = Load([older.address, newer.address], tolerated=["DEADLINE_EXCEEDED"], deadline_s=5)
        self.addCleanup(load.end)
        load.wait_for_acks(500)
        older.freeze()
        self.database.eventually("SELECT count(*) FROM skiplane.broker WHERE expire_time > now()",
                                 "1")
        load.wait_for_acks(500)
        older.thaw()
        load.wait_for_acks(500)
        self.assertEqual(self.packed(), 0, "the older broker does not find what is packed")
        older.terminate()
        self.assertEqual(older.wait(), 0)
        load.wait_for_acks(2 * load.acks(PACKED))
        load.drain()
        load.check(self)

    def migrate(self):
        subprocess.run([programs.program(), "migrate", f"--database={self.database.uri}"],
                       check=True, capture_output=True, timeout=GENEROUS_S)

    def packed(self):
        """What is packed, or was."""
        return self.database.number("SELECT (SELECT count(*) FROM skiplane.task_pack) +"
                                    " (SELECT count(*) FROM skiplane.pack_history)")


if __name__ == "__main__":
    unittest.main()
