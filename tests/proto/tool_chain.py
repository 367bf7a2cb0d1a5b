"""What a language needs that its code is compiled: skipped where that is not there."""

import fcntl
import os
import shutil

from generated import BUILD, GO_MODULE, Generated
from support import document

PLACE = os.path.join(BUILD, "languages")


class ToolChain:
    """A part of a test."""

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")

    def need_success(self, code, what, *command, folder=""):
        """What is not there, or cannot be fetched, is nobody's mistake."""
        result = code.attempt(*command, folder=folder)
        if result.returncode != 0:
            said = (result.stdout + result.stderr).decode(errors="replace").strip()
            self.skipTest(f"{what}: {said[-500:]}")

    def lay_out(self, language, **env):
        code = Generated(language, env)
        self.addCleanup(code.remove)
        # One run at a time fetches.
        os.makedirs(PLACE, exist_ok=True)
        lock = open(os.path.join(PLACE, language + ".lock"), "w", encoding="utf-8")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return code

    def generate(self, language, **env):
        code = self.lay_out(language, **env)
        code.make()
        return code

    def generate_go(self):
        """Also what the README makes of it in an empty folder, which is "user" here."""
        self.need("go")
        # Its compiler is quicker when it does not optimise, and the network needs no C.
        code = self.lay_out("Go", GOPATH=f"{PLACE}/go", GOBIN="", GOCACHE=f"{PLACE}/go/cache",
                            GOTOOLCHAIN="local", GOENV="off", GOWORK="", CGO_ENABLED="0",
                            GOFLAGS="-modcacherw -buildvcs=false '-gcflags=all=-N -l'")
        self.need_success(code, "go cannot fetch", "go", "mod", "download", folder=GO_MODULE)
        code.make()
        os.mkdir(code.path("user"))
        code.env["SKIPLANE"] = code.folder
        code.run("bash", "-euc", document.commands("README.md", "Go", 1), folder="user")
        return code
