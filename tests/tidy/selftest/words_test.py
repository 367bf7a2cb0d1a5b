import unittest

from planted import Planted
from rules import words


class Words(Planted):
    rule = words

    def test_unfinished_work_is_caught_anywhere(self):
        for word in ("TODO", "FIXME", "XXX", "HACK"):
            with self.subTest(word):
                self.assert_caught("docs/a.md", f"\n{word}: later", f"docs/a.md:2: `{word}`")

    def test_pauses_in_tests_are_caught(self):
        for call in ("std::this_thread::sleep_for(x);", "usleep(1);", "time.sleep(1)",
                     "absl::SleepFor(x);", "nanosleep(&t);", "  sleep 1"):
            with self.subTest(call):
                self.assert_caught("tests/a", call, "wait for a signal")

    def test_the_word_alone_is_no_pause(self):
        self.assert_clean("tests/a.cc", "// The worker must not sleep.\n")

    def test_the_lock_that_thread_sanitizer_misreads_is_caught(self):
        self.assert_caught("server/base/a.h", "absl::Mutex m;", "server/base/mutex.h")
        self.assert_clean("server/base/a.h", "// Not absl::Mutex: why.\n")

    def test_the_wrong_string_view_in_a_signature_is_caught(self):
        self.assert_caught("server/base/a.h", "void F(std::string_view name);", "absl::string_view")
        self.assert_caught("client/src/a.h", "std::string_view F();", "absl::string_view")
        self.assert_clean("server/base/a.cc", "void F(absl::string_view name);")

    def test_repeating_writes_by_library_is_caught(self):
        self.assert_caught("server/pg/a.cc", "pqxx::perform([&] {});", "repeated by a library")

    def test_empty_names_are_caught(self):
        self.assert_caught("server/base/a.h", "class TaskManager {", "after what it is")
        self.assert_caught("server/base/task_utils.h", "", "one noun")
        self.assert_clean("server/base/a.h", "class Database {")

    def test_paths_of_a_machine_are_caught(self):
        for path in ("/work/x", "/root/x", "/home/joe/x"):
            with self.subTest(path):
                self.assert_caught("docs/a.md", f"see {path}", "no path of one machine")
        self.assert_clean("docs/a.md", "see client/work/ and https://a.b/root/x and ${HOME}/root/")


if __name__ == "__main__":
    unittest.main()
