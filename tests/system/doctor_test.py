"""`skiplaned doctor` says what keeps a broker from serving well, and what to do."""

import os
import unittest

from support import broker as brokers
from support.broker import Broker
from support.case import SystemTest
from support.database import run_sql
from support.folder import Folder

LOOKS = ["descriptors", "version", "statistics", "rights", "autovacuum", "connections", "snapshots",
         "idle transactions", "prepared transactions", "replication slots", "standbys", "dead rows",
         "transaction numbers", "memory", "log of changes", "checksums", "clocks", "schema"]
OF_BROKERS = ["brokers", "upkeep"]


def examine(case, *flags):
    """Exit code, and by what was looked at: how bad it is, with what was found and the advice."""
    code, output = brokers.run_to_end(case, "doctor", *flags)
    looks, last = {}, None
    for line in output.splitlines():
        word, rest = line[:10].strip(), line[11:]
        if word in ("ok", "see to it", "wrong"):
            last = rest.split(":")[0]
            looks[last] = [word, rest]
        elif last and not word:
            looks[last].append(rest)
    return code, looks, output


class Doctor(SystemTest):
    def examine(self, uri=None):
        return examine(self, f"--database={uri or self.database.uri}")

    def test_a_database_that_serves_is_fine(self):
        broker, _ = self.start()
        self.database.eventually("SELECT count(*) > 0 FROM skiplane.upkeep_lead "
                                 "WHERE expire_time > now()")
        code, looks, output = self.examine()
        self.assertEqual((code, list(looks)), (0, LOOKS + OF_BROKERS), output)
        for look in ("version", "rights", "autovacuum", "schema", "brokers", "upkeep", "clocks"):
            self.assertEqual(looks[look][0], "ok", output)
        self.assertIn("0 wrong", output)
        self.assertTrue(broker.runs())

    def test_what_is_not_there_is_named(self):
        self.database.run("DELETE FROM skiplane.schema_version WHERE version = "
                          "(SELECT max(version) FROM skiplane.schema_version)")
        code, looks, output = self.examine()
        self.assertEqual(code, 0, output)
        self.assertNotIn("brokers", looks)  # of another schema nothing more is asked
        self.assertEqual(looks["schema"][0], "see to it")
        self.assertIn("skiplaned migrate", looks["schema"][2])
        self.database.run("INSERT INTO skiplane.schema_version (version, name) "
                          "SELECT max(version) + 1, 'again' FROM skiplane.schema_version")
        self.assertEqual(self.examine()[1]["brokers"][0], "see to it")

    def test_a_role_without_rights_is_wrong(self):
        self.start()
        self.database.run("REVOKE SELECT ON skiplane.task FROM skiplane_broker")
        code, looks, output = self.examine(self.database.broker_uri)
        self.assertEqual((code, looks["rights"][0]), (1, "wrong"), output)
        self.assertEqual(looks["statistics"][0], "see to it")
        self.assertIn("may not read task", looks["rights"][1])
        self.assertIn("GRANT skiplane_broker", looks["rights"][2])
        self.database.run("REVOKE SELECT ON skiplane.broker FROM skiplane_broker")
        code, looks, output = self.examine(self.database.broker_uri)
        self.assertEqual((code, looks["rights"][0]), (1, "wrong"), output)  # though no look follows

    def test_who_is_idle_in_a_transaction_is_seen(self):
        held = self.database.hold("SELECT count(*) FROM skiplane.task")
        self.addCleanup(held.release)
        _, looks, output = self.examine()
        self.assertRegex(looks["idle transactions"][1], "the longest since 00:00:", output)

    def test_what_a_held_lock_hides_is_not_said_to_be_fine(self):
        held = self.database.hold("LOCK TABLE skiplane.upkeep_lead")
        self.addCleanup(held.release)
        code, looks, output = self.examine()
        self.assertEqual((code, list(looks)), (1, LOOKS), output)
        self.assertIn("0 wrong; the rest could not be looked at", output)

    def test_a_database_that_is_away_is_told(self):
        code, _, output = self.examine("postgresql:///x?host=/nonexistent")
        self.assertEqual(code, 1)
        self.assertIn("skiplaned: the database cannot be reached", output)


class EmbeddedDoctor(unittest.TestCase):
    def test_settings_of_the_server_are_looked_at(self):
        files = Folder(for_all=True)
        self.addCleanup(files.remove)
        flag = f"--embedded={files.path('data')}"
        code, _, output = examine(self, flag)
        self.assertEqual(code, 1)
        self.assertIn("is it the right folder?", output)
        self.assertEqual(os.listdir(files.path("")), [])
        broker = Broker(flag)
        self.addCleanup(broker.end)
        _, looks, output = examine(self, flag)  # beside the broker
        self.assertEqual(looks["memory"][0], "ok", output)
        self.assertIn("disk", looks)
        self.assertEqual(looks["standbys"][0], "ok")
        for change in ("SET synchronous_standby_names = 'nobody'", "SET autovacuum = off"):
            run_sql(broker.database_uri, f"ALTER SYSTEM {change}")
        run_sql(broker.database_uri, "SELECT pg_reload_conf()")
        code, looks, output = examine(self, flag)
        self.assertEqual((code, looks["standbys"][0], looks["autovacuum"][0]),
                         (1, "wrong", "wrong"), output)
        self.assertIn("start the standby", looks["standbys"][2])


if __name__ == "__main__":
    unittest.main()
