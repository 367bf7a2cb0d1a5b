"""One attack on a broker, beside a caller who minds his own business: what both saw, and what the
broker's memory did."""

import json
import os
import sys
import time

import place
from attacks import AT_HTTP
from support import cluster, front, template
from support.broker import Broker
from support.database import Database
from support.process import Process
from memory import Memory

import calls

CALLERS = 4
QUIET_S = 2       # before the attack
LARGE_TASKS = 3
PYTHON = [sys.executable, "-B"]


class Trial:
    """A broker with a database of its own. `files`: of TLS, with the pair "server"; None for plain
    text. `flags`: of the broker. `proxy`: nginx or haproxy before it, with the pair "proxy"."""

    def __init__(self, files=None, flags=(), proxy=None):
        self._database = Database(cluster.shared(), template.made_in(cluster.shared()))
        self._database.broker_user = template.BROKER_USER
        has_tls = files is not None and proxy is None
        tls = [] if not has_tls else [f"--tls-cert={files.path('server.crt')}",
                                      f"--tls-key={files.path('server.key')}"]
        self.broker = Broker(f"--database={self._database.broker_uri}", *tls, *flags,
                             http="127.0.0.1:0", is_awaited=not has_tls)
        self._front = None if proxy is None else front.start(proxy, self.broker, files)
        listening = self._front or self.broker
        self._certificate = files and files.path("proxy.crt" if proxy else "server.crt")
        self.address, self._http_address = (
            "localhost:" + address.rsplit(":", 1)[1]
            for address in (listening.address, listening.http_address))
        self._prepare()

    def end(self):
        if self._front is not None:
            self._front.end()
        self.broker.end()
        self._database.drop()

    def run(self, name, seconds, after_s):
        """Plays the attack; a dict of what happened. `after_s`: how long to look at the memory
        afterwards, at ten seconds and at the end."""
        memory = Memory(self.broker.pid)
        proxy = Memory(self._front.pid) if self._front else None
        form = "http" if name in AT_HTTP else "grpc"
        at = self._http_address if name in AT_HTTP else self.address
        bystander = self._process("bystander.py", at, self._trust(), str(CALLERS), form)
        bystander.wait_for_output("calling\n")
        self.broker.runs_for(QUIET_S)
        before, begin = memory.now(), time.monotonic()
        attacker = self._process("attacker.py", name, at, self._trust(), str(seconds))
        attacker.wait_for_output("attacking\n")
        begin = time.monotonic()
        attacker.wait(seconds + 120)
        end = time.monotonic()
        facts = {"attack": name, "tls": self._certificate is not None, "seconds": end - begin,
                 "before": before, "attacker": json.loads(attacker.output.splitlines()[-1])}
        self.broker.runs_for(min(10, after_s))
        facts["after_10"] = memory.now()
        self.broker.runs_for(max(0, after_s - 10))
        facts["after"] = memory.now()
        bystander.tell_end()
        bystander.wait(60)
        facts["most"] = memory.most(begin, time.monotonic())
        memory.end()
        facts["proxy_most"] = 0
        if proxy is not None:
            facts["proxy_most"] = proxy.most(begin, time.monotonic())
            proxy.end()
        facts["calls"] = served(json.loads(bystander.output.splitlines()[-1]), begin, end)
        facts["runs"] = self.broker.runs()
        for process in (attacker, bystander):
            process.end()
        return facts

    def _trust(self):
        return self._certificate or "-"

    def _process(self, script, *arguments):
        # There are limits for each address, of a proxy and of the broker.
        env = {"ATTACK_FROM": "127.0.0.2"} if script == "attacker.py" else {}
        return Ending([*PYTHON, os.path.join(place.HERE, script), *arguments], env=env)

    def _prepare(self):
        """Queues of the attacker, and what makes large answers."""
        self._process("prepare.py", self.address, self._trust(), str(LARGE_TASKS)).finish()


class Ending(Process):
    def tell_end(self):
        self._child.stdin.close()

    def finish(self):
        if self.wait() != 0:
            raise AssertionError(self.output)
        self.end()


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else 0


def served(all_calls, begin, end):
    """What the caller saw: before, during and after the attack."""
    during = [call for call in all_calls if begin <= call[0] <= end]
    took = [call[1] for call in during]
    after = [call for call in all_calls if call[0] + call[1] >= end and call[2] == "OK"]
    failed = {}
    for call in during:
        if call[2] != "OK":
            failed[call[2]] = failed.get(call[2], 0) + 1
    return {"p99_before": quantile([call[1] for call in all_calls if call[0] < begin], 0.99),
            "during": len(during), "p50": quantile(took, 0.5), "p99": quantile(took, 0.99),
            "max": max(took, default=0), "failed": failed,
            "first_after": min((call[0] + call[1] - end for call in after), default=None),
            "after_p99": quantile([call[1] for call in all_calls if call[0] >= end], 0.99)}
