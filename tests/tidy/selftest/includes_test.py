import unittest

from planted import Planted
from rules import includes


def include(target):
    return f'#pragma once\n#include "{target}"\n'


class Includes(Planted):
    rule = includes

    def test_an_import_upwards_is_caught(self):
        self.assert_caught("server/model/a.h", include("server/store/b.h"),
                           "2: server/store/b.h: model may not import store")

    def test_an_import_sideways_is_caught(self):
        self.assert_caught("server/rpc/call/a.cc", include("server/store/b.h"),
                           "rpc/call may not import store")
        self.assert_caught("server/broker/lease/a.cc", include("server/broker/settle/b.h"),
                           "broker/lease may not import broker/settle")

    def test_an_import_of_the_room_that_holds_it_is_caught(self):
        self.assert_caught("server/broker/lease/a.cc", include("server/broker/b.h"),
                           "broker/lease may not import broker")

    def test_an_import_downwards_is_fine(self):
        self.assert_clean("server/store/a.cc", include("server/pg/b.h"))
        self.assert_clean("server/broker/settle/a.cc", include("server/broker/lease/b.h"))

    def test_app_and_main_may_import_all(self):
        self.assert_clean("server/app/a.cc", include("server/rpc/serve/b.h"))
        self.assert_clean("server/main.cc", include("server/app/b.h"))

    def test_a_room_without_a_row_in_the_table_is_caught(self):
        self.assert_caught("server/cellar/a.h", include("server/base/b.h"), "not in the table")
        self.assert_caught("server/broker/cellar/a.h", include("server/base/b.h"),
                           "not in the table")

    def test_a_ring_in_the_table_is_caught(self):
        ring = {"a": set(), "b": {"a", "c"}, "c": {"b"}}
        self.assertIn("b may include c, which does not stand before it",
                      "\n".join(includes.check_order(ring)))
        self.assertEqual(list(includes.check_order({"a": set(), "b": {"a"}, "c": None})), [])

    def test_importing_tests_is_caught(self):
        self.assert_caught("server/app/a.cc", include("tests/support/b.h"), "nobody imports tests")

    def test_the_client_importing_the_server_is_caught(self):
        self.assert_caught("client/src/a.cc", include("server/base/b.h"),
                           "does not import the server")

    def test_the_server_importing_the_client_is_caught(self):
        self.assert_caught("server/rpc/a.cc", include("client/include/skiplane/client.h"),
                           "does not import the client")

    def test_each_fence_holds(self):
        for target in ("pqxx/pqxx", "grpcpp/grpcpp.h", "skiplane/v1/task.pb.h",
                       "prometheus/counter.h", "absl/synchronization/mutex.h"):
            with self.subTest(target):
                self.assert_caught("server/store/a.cc", f"#include <{target}>\n",
                                   f"{target}: only in")

    def test_inside_its_fence_a_library_is_fine(self):
        self.assert_clean("server/pg/a.cc", "#include <pqxx/pqxx>\n")
        self.assert_clean("client/src/a.cc", "#include <grpcpp/grpcpp.h>\n")
        self.assert_clean("tests/rpc/a.cc", "#include <grpcpp/grpcpp.h>\n")

    def test_the_lock_that_nobody_may_use_is_caught_in_tests_too(self):
        self.assert_caught("tests/rpc/a.cc", "#include <absl/synchronization/mutex.h>\n",
                           "only in server/main.cc")

    def test_a_link_upwards_is_caught(self):
        self.assert_caught("server/model/CMakeLists.txt",
                           "skiplane_room(model\n  SOURCES a.cc\n  DEPENDS base store)",
                           "model may not depend on store")
        self.assert_caught("server/broker/lease/CMakeLists.txt",
                           "skiplane_room(broker_lease\n  SOURCES a.cc\n  DEPENDS broker_settle)",
                           "broker/lease may not depend on broker/settle")

    def test_a_link_downwards_is_fine(self):
        self.assert_clean("server/broker/settle/CMakeLists.txt",
                          "skiplane_room(broker_settle\n  SOURCES a.cc\n  DEPENDS broker_lease)")


if __name__ == "__main__":
    unittest.main()
