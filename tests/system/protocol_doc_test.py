"""The examples of the protocol's documents do what they say."""

import os
import re
import unittest

from support import stubs
from support.by_http import HttpApi
from support.case import SystemTest, slow
from support.client import admin_pb2, broker_pb2, seconds

DOCUMENT = "docs/EXAMPLES.md"
# Where a reader's broker listens.
ADDRESS = "127.0.0.1:7070"
HTTP_ADDRESS = "127.0.0.1:7080"
# Parts of what only the C++ library does: encrypted_test runs its programs.
OF_CPP = {"Encrypted payloads"}


def read_document():
    with open(os.path.join(stubs.ROOT, DOCUMENT), encoding="utf-8") as file:
        return file.read()


def examples(document):
    """(line of the document, code) of each block."""
    for block in re.finditer(r"(?ms)^```python\n(.*?)^```", document):
        yield document.count("\n", 0, block.start(1)), block.group(1)


@slow
class ProtocolDocument(SystemTest):
    def run_examples(self, after_setup):
        # How often hung attempts are looked for follows from the limits at the look before.
        other, client = self.start()
        client.create_queue("warm", max_run_duration=seconds(1))
        other.terminate()
        broker, names = self.start_broker(http="127.0.0.1:0"), {}
        self.addCleanup(lambda: names["channel"].close())
        for line, code in examples(read_document()):
            # Traces and failed asserts tell the line of the document.
            text = "\n" * line + code.replace(ADDRESS, broker.address).replace(
                HTTP_ADDRESS, broker.http_address)
            exec(compile(text, DOCUMENT, "exec"), names)
            if "channel = " in code:
                after_setup(broker, names)

    def test_the_examples_work_one_after_the_other(self):
        self.run_examples(lambda broker, names: None)

    def test_the_examples_work_by_http(self):
        def use_http(broker, names):
            api = HttpApi(broker.http_address)
            names.update(broker=api.broker, admin=api.admin)
        self.run_examples(use_http)


class Coverage(unittest.TestCase):
    def test_each_part_has_an_example(self):
        _, *parts = re.split(r"(?m)^## ", read_document())
        self.assertGreater(len(parts), 10)
        for part in parts:
            title = part.splitlines()[0]
            with self.subTest(title):
                self.assertTrue(title in OF_CPP or list(examples(part)))

    def test_each_call_of_the_services_has_an_example(self):
        code = "".join(block for _, block in examples(read_document()))
        for name, api in (("broker", broker_pb2.DESCRIPTOR.services_by_name["BrokerService"]),
                          ("admin", admin_pb2.DESCRIPTOR.services_by_name["AdminService"])):
            for method in api.methods:
                with self.subTest(method.full_name):
                    self.assertRegex(code, rf"\b{name}\.{method.name}\b")


if __name__ == "__main__":
    unittest.main()
