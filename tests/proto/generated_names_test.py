"""What plain `protoc` makes of the API has the names that each language is used to."""

import os
import re
import subprocess
import tempfile
import unittest

import generated
from generated import Generated, stubs  # the path of the API's modules
from skiplane.v1 import (access_pb2, admin_pb2, broker_pb2, bulk_pb2, error_reason_pb2, queue_pb2,
                         report_pb2, task_pb2)

FILES = [module.DESCRIPTOR for module in (access_pb2, admin_pb2, broker_pb2, bulk_pb2,
                                          error_reason_pb2, queue_pb2, report_pb2, task_pb2)]
SERVICES = ["AdminService", "BrokerService"]


def stem(file):
    return os.path.basename(file.name).removesuffix(".proto")


def pascal(name):
    return "".join(part.capitalize() for part in name.split("_"))


def messages(file):
    return sorted(file.message_types_by_name)


def types(file):
    return sorted([*file.message_types_by_name, *file.enum_types_by_name])


class Names(unittest.TestCase):
    def generate(self, language):
        code = Generated(language)
        self.addCleanup(code.remove)
        code.make()
        return code

    def test_all_files_are_looked_at(self):
        names = {os.path.basename(file.name) for file in FILES}
        folder = os.path.join(stubs.PROTO, "skiplane", "v1")
        self.assertEqual(names, {name for name in os.listdir(folder) if name.endswith(".proto")})

    def test_csharp(self):
        code = self.generate("C#")
        self.assertIn("namespace Skiplane.V1", code.promise)
        for file in FILES:
            text = code.read("stubs", "csharp", pascal(stem(file)) + ".cs")
            self.assertEqual(re.findall(r"(?m)^namespace ([\w.]+)", text), ["Skiplane.V1"])
            for name in messages(file):
                self.assertIn(f"public sealed partial class {name} :", text)

    def test_go(self):
        """Its package lies in the module, and that lies where its path says."""
        _, promise, _ = generated.commands()["Go"]
        with open(os.path.join(generated.ROOT, generated.GO_MODULE, "go.mod"),
                  encoding="utf-8") as file:
            module = re.search(r"(?m)^module (\S+)$", file.read()).group(1)
        self.assertEqual(module, f"skiplane.dev/{generated.GO_MODULE}")
        for file in FILES:
            path, name = file.GetOptions().go_package.split(";")
            self.assertEqual((path, name), (f"{module}/skiplane/v1", "skiplanev1"))
            self.assertIn(f"package {path},", promise)

    def test_java(self):
        """A file for each type, and one for each `.proto`, of another name than all types."""
        code = self.generate("Java")
        self.assertIn("package dev.skiplane.v1", code.promise)
        outer = [pascal(stem(file)) + "Proto" for file in FILES]
        inner = [name for file in FILES for name in types(file)]
        made = {os.path.basename(path).removesuffix(".java"): path
                for path in code.files("stubs/java/dev/skiplane/v1/*.java")}
        builders = {f"{name}OrBuilder" for file in FILES for name in messages(file)}
        self.assertEqual(set(made), {*outer, *inner, *builders})
        for path in made.values():
            self.assertIn("\npackage dev.skiplane.v1;\n", code.read(path))

    def test_php(self):
        code = self.generate("PHP")
        self.assertIn("namespace Skiplane\\V1", code.promise)
        classes = [f"V1/{name}" for file in FILES for name in types(file)]
        classes += [f"V1/{name}Client" for name in SERVICES]
        classes += [f"V1/Metadata/{pascal(stem(file))}" for file in FILES]
        for name in classes:
            folder, _, last = f"Skiplane/{name}".rpartition("/")
            text = code.read("stubs/php", f"{folder}/{last}.php")
            self.assertIn("\nnamespace " + folder.replace("/", "\\") + ";\n", text)
            self.assertRegex(text, rf"(?m)^class {last}\b")
        self.assertEqual([path for path in code.files("stubs/php/*")
                          if not path.endswith("/Skiplane")], [])

    def test_ruby(self):
        code = self.generate("Ruby")
        self.assertIn("module Skiplane::V1", code.promise)
        for file in FILES:
            text = code.read("stubs/ruby/skiplane/v1", f"{stem(file)}_pb.rb")
            self.assertRegex(text, r"(?m)^module Skiplane\n  module V1\n")
            for name in types(file):
                self.assertRegex(text, rf"(?m)^    {name} = ::Google::Protobuf::")
        for file, service in (("admin", "AdminService"), ("broker", "BrokerService")):
            text = code.read("stubs/ruby/skiplane/v1", f"{file}_services_pb.rb")
            self.assertIn(f"module Skiplane\n  module V1\n    module {service}\n", text)

    def test_what_came_from_elsewhere_is_taken_too(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [f"google/rpc/{name}"
                     for name in os.listdir(os.path.join(stubs.PROTO, "google", "rpc"))
                     if name.endswith(".proto")]
            subprocess.run(
                ["protoc", f"-I{stubs.PROTO}", f"--csharp_out={folder}", f"--java_out={folder}",
                 f"--php_out={folder}", f"--ruby_out={folder}", *names], check=True)
            for made in ("Status.cs", "com/google/rpc/ErrorInfo.java", "Google/Rpc/ErrorInfo.php",
                         "google/rpc/status_pb.rb"):
                self.assertTrue(os.path.exists(os.path.join(folder, made)), made)


if __name__ == "__main__":
    unittest.main()
