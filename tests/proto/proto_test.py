"""The API is well formed, and never breaks those who use it."""

import os
import shutil
import tempfile
import unittest

import buf


class Proto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.buf = buf.install()
        except buf.Unavailable as reason:
            raise unittest.SkipTest(str(reason))

    def assert_quiet(self, *arguments):
        code, output = buf.run(self.buf, *arguments)
        self.assertEqual(code, 0, output)

    def changed_copy(self, name, old, new):
        """A copy of the API in which one text is replaced."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        copy = os.path.join(folder.name, "proto")
        shutil.copytree(buf.PROTO, copy)
        path = os.path.join(copy, "skiplane", "v1", name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1))
        return copy

    def test_it_keeps_to_the_rules(self):
        self.assert_quiet("lint", buf.PROTO)

    def test_it_is_formatted(self):
        self.assert_quiet("format", "--diff", "--exit-code", buf.PROTO,
                          "--path", os.path.join(buf.PROTO, "skiplane"))

    def test_it_breaks_nobody_who_uses_what_was_released(self):
        self.assert_quiet("breaking", buf.PROTO, "--against", buf.RELEASED)

    def test_a_field_without_a_comment_would_be_caught(self):
        copy = self.changed_copy("broker.proto", "message EnqueueRequest {",
                                 "message EnqueueRequest {\n  int32 bare = 999;\n")
        code, output = buf.run(self.buf, "lint", copy)
        self.assertNotEqual(code, 0)
        self.assertIn('Field "bare" should have a non-empty comment', output)

    def test_a_method_that_goes_would_be_caught(self):
        copy = self.changed_copy("broker.proto", "rpc Heartbeat(", "rpc Pulse(")
        code, output = buf.run(self.buf, "breaking", copy, "--against", buf.RELEASED)
        self.assertNotEqual(code, 0)
        self.assertIn("Heartbeat", output)


if __name__ == "__main__":
    unittest.main()
