"""What the README's commands generate compiles, and speaks of the same bytes in each language.

Each program builds a request, serialises and parses it, compares, and writes the bytes. What a
tool chain fetches is pinned and lies in the build folder; a language whose tool chain is absent is
skipped."""

import os
import unittest

from generated import GO_MODULE
from tool_chain import PLACE, ToolChain
from support.case import slow
from skiplane.v1 import broker_pb2

REQUEST = broker_pb2.EnqueueRequest(
    queue="mail", tasks=[broker_pb2.NewTask(payload=b"hello", key="order-17")])
JARS = ("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
        "-DoutputDirectory=jars", f"-Dmaven.repo.local={PLACE}/maven")
BRIEF_RUN = "-XX:TieredStopAtLevel=1"  # halves what Java's compiler takes for so few files


@slow
class Code(ToolChain, unittest.TestCase):
    def assert_speaks(self, written):
        self.assertEqual(broker_pb2.EnqueueRequest.FromString(written), REQUEST)

    def test_csharp(self):
        self.need("dotnet")
        code = self.generate("C#", NUGET_PACKAGES=f"{PLACE}/nuget", DOTNET_NOLOGO="1",
                             DOTNET_CLI_TELEMETRY_OPTOUT="1")
        for name in ("check.cs", "check.csproj"):
            code.add(name, "stubs/csharp", name)
        version = code.run("dotnet", "--version").decode().split(".")[0]
        framework = f"-p:TargetFramework=net{version}.0"
        self.need_success(code, "dotnet cannot restore", "dotnet", "restore", framework,
                          folder="stubs/csharp")
        code.run("dotnet", "build", "--no-restore", framework, "-o", code.path("out"),
                 folder="stubs/csharp")
        self.assert_speaks(code.run("dotnet", code.path("out", "check.dll")))

    def test_go(self):
        """With the clients of the services, in a module of the user's."""
        code = self.generate_go()
        package = code.run("go", "list", "-f", "{{.ImportPath}};{{.Name}}", "./...",
                           folder=GO_MODULE).decode().strip()
        self.assertEqual(package, broker_pb2.DESCRIPTOR.GetOptions().go_package)
        code.add("check.go", "user", "check", "main.go")
        self.assert_speaks(code.run("go", "run", "./check", folder="user"))

    def test_java(self):
        self.need("javac", "java", "mvn")
        code = self.generate("Java", MAVEN_OPTS=BRIEF_RUN)
        code.add("pom.xml", "pom.xml")
        self.need_success(code, "mvn cannot fetch", "mvn", "-q", "-B", *JARS)
        sources = [code.add("Check.java", "Check.java"), *code.files("stubs/java/**/*.java")]
        path = os.pathsep.join(["out", "jars/*"])
        code.run("javac", f"-J{BRIEF_RUN}", "-proc:none", "-g:none", "-cp", path, "-d", "out",
                 *sources)
        self.assert_speaks(code.run("java", "-cp", path, "Check"))

    def test_php(self):
        self.need("php")
        code = self.generate("PHP")
        options = ("-d", "display_errors=stderr",
                   "-d", "include_path=stubs/php:/usr/share/php")
        self.need_success(code, "php-google-protobuf is not installed", "php", *options, "-r",
                          "require 'Google/Protobuf/Internal/Message.php';")
        clients = code.files("stubs/php/**/*Client.php")  # of gRPC's library, which Debian lacks
        for name in clients:
            code.run("php", "-l", name)
        others = [name for name in code.files("stubs/php/**/*.php") if name not in clients]
        program = code.add("check.php", "check.php")
        self.assert_speaks(code.run("php", *options, program, *others))

    def test_ruby(self):
        self.need("ruby")
        code = self.generate("Ruby")
        self.need_success(code, "ruby-google-protobuf is not installed", "ruby", "-e",
                          "require 'google/protobuf'")
        files = [f"-r{name}" for name in code.files("stubs/ruby/**/*_pb.rb")
                 if not name.endswith("_services_pb.rb")]
        program = code.add("check.rb", "check.rb")
        self.assert_speaks(code.run("ruby", "-Istubs/ruby", *files, program))


if __name__ == "__main__":
    unittest.main()
