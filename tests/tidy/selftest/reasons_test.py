import unittest

from planted import Planted
from rules import reasons

PROTO = ("enum ErrorReason {\n  // Never sent.\n  ERROR_REASON_UNSPECIFIED = 0;\n"
         "  // NOT_FOUND: no such thing: UNKNOWN: x\n  // UNKNOWN: more.\n"
         "  ERROR_REASON_GONE = 1;\n  // Never the reason of a status.\n"
         "  ERROR_REASON_LOST = 2;\n}\n")
DOCUMENT = ("# Protocol\n\n## Errors\n\n| reason | code |\n|---|---|\n| `GONE` | NOT_FOUND | x |\n"
            "| `LOST` | none | x |\n\n## More\n\n| `OTHER` | UNKNOWN |\n")
SOURCE = 'return base::Refuse(absl::StatusCode::kNotFound,\n                    "GONE", "x");\n'


class Reasons(Planted):
    rule = reasons

    def check(self, proto=PROTO, document=DOCUMENT, source=SOURCE):
        return reasons.check({"proto/skiplane/v1/error_reason.proto": proto,
                              "docs/PROTOCOL.md": document, "server/base/a.cc": source})

    def test_reasons_with_one_code_are_clean(self):
        self.assertEqual(self.check(), [])

    def test_a_reason_that_is_not_explained_is_caught(self):
        document = DOCUMENT.replace("`LOST`", "lost")
        self.assertEqual(self.check(document=document), [
            "proto/skiplane/v1/error_reason.proto:1: reason LOST is not in docs/PROTOCOL.md"])

    def test_another_code_in_the_document_is_caught(self):
        document = DOCUMENT.replace("NOT_FOUND", "ABORTED")
        self.assertEqual(self.check(document=document),
                         ["docs/PROTOCOL.md:7: GONE has the code NOT_FOUND"])

    def test_another_code_in_the_source_is_caught(self):
        for call in ("Refuse(StatusCode::kAborted, ",
                     "RefuseField(absl::StatusCode::kAborted,\n  "):
            with self.subTest(call):
                self.assertEqual(self.check(source=f'\n{call}"GONE", "x");\n'), [
                    "server/base/a.cc:2: GONE has the code NOT_FOUND, not ABORTED"])

    def test_a_reason_that_the_protocol_does_not_know_is_caught(self):
        self.assertEqual(self.check(source='Refuse(absl::StatusCode::kAborted, "NEW", "x");\n'), [
            "server/base/a.cc:1: NEW has the code None, not ABORTED"])


if __name__ == "__main__":
    unittest.main()
