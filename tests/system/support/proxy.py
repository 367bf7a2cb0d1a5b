"""Between a broker and PostgreSQL: TCP on loopback on one side, the cluster's unix socket on the
other. It passes everything on until it is told to do worse."""

import re
import select
import socket
import struct
import threading

from support.process import GENEROUS_S

# ReadyForQuery: outside a transaction all is committed, inside of one nothing is.
READY = (b"Z\x00\x00\x00\x05I", b"Z\x00\x00\x00\x05T")
SAID_BYTES = 4096
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close() sends a reset


COMMIT = re.compile(b"Q.{4}COMMIT\x00", re.DOTALL)


def runs_statement(name):
    """Bind of a prepared statement."""
    return re.compile(b"B.{4}\x00" + re.escape(name.encode()) + b"\x00", re.DOTALL)


class Connection:
    """One of a broker. What its client has said is known by `said`, its first bytes."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.said = b""
        self.in_transaction = False  # the one whose commit is to be lost
        self.lost = False     # nothing passes any more, and nobody is told
        self.swallow = False  # the answer that comes next is for nobody
        self._answer = b""

    def run(self):
        try:
            while self._pass_on():
                pass
        except OSError:
            pass
        finally:
            self.close()

    def close(self):
        for end in (self.client, self.server):
            end.close()

    def _pass_on(self):
        ready, _, _ = select.select([self.client, self.server], [], [])
        for source in ready:
            block = source.recv(65536)
            if not block:
                return False
            if self.lost:
                continue
            if source is self.client:
                self._hear(block)
                self.server.sendall(block)
            elif self.swallow:
                return self._swallow(block)
            else:
                self.client.sendall(block)
        return True

    def _hear(self, block):
        if len(self.said) < SAID_BYTES:
            self.proxy.note_said(self, block)
        self.swallow = self.swallow or self.proxy.takes(self, block)

    def _swallow(self, block):
        self._answer += block
        if not self._answer.endswith(READY):
            return True
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.proxy.tell_swallowed()
        return False


class Proxy:
    def __init__(self, cluster):
        self._target = f"{cluster.folder}/.s.PGSQL.5432"
        self._changed = threading.Condition()
        self._connections = []
        self._hole = False
        self._victim = None  # a pattern
        self._before = None  # a pattern that its connection must have sent before
        self._swallowed = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def uri(self, database):
        return f"postgresql://skiplane@127.0.0.1:{self.port}/{database.name}"

    def swallow_next(self, statement):
        """The next answer to this prepared statement is lost, and its connection with it."""
        with self._changed:
            self._victim = runs_statement(statement)
            self._before = None

    def swallow_commit_after(self, statement):
        """The next answer to the COMMIT of a transaction in which this prepared statement ran."""
        with self._changed:
            self._victim = COMMIT
            self._before = runs_statement(statement)

    def has_swallowed(self):
        with self._changed:
            return self._swallowed > 0

    def wait_until_swallowed(self, count=1):
        with self._changed:
            if not self._changed.wait_for(lambda: self._swallowed >= count, GENEROUS_S):
                raise AssertionError("the statement was never answered")

    def wait_until_said(self, said):
        """By a connection that is not lost."""
        with self._changed:
            if not self._changed.wait_for(
                    lambda: any(said in each.said and not each.lost for each in self._connections),
                    GENEROUS_S):
                raise AssertionError(f"nobody says {said}")

    def lose(self, said=b""):
        """Those of the present connections that said so are lost for ever, without a sign."""
        with self._changed:
            victims = [each for each in self._connections if said in each.said]
            for connection in victims:
                connection.lost = True
        return len(victims)

    def open_hole(self):
        """All present connections are lost, and those that come too."""
        with self._changed:
            self._hole = True
        self.lose()

    def close_hole(self):
        """New connections work again."""
        with self._changed:
            self._hole = False

    def end(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._changed:
            for connection in self._connections:
                for end in (connection.client, connection.server):
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

    def takes(self, connection, block):
        """Whether the answer to this block is to be swallowed. True once."""
        with self._changed:
            if self._before is not None and self._before.search(block):
                connection.in_transaction = True
            if self._victim is None or not self._victim.search(block):
                return False
            if self._before is not None and not connection.in_transaction:
                return False
            self._victim = None
            return True

    def note_said(self, connection, block):
        with self._changed:
            connection.said = (connection.said + block)[:SAID_BYTES]
            self._changed.notify_all()

    def tell_swallowed(self):
        with self._changed:
            self._swallowed += 1
            self._changed.notify_all()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._target)
            except OSError:
                client.close()
                server.close()
                continue
            connection = Connection(self, client, server)
            with self._changed:
                connection.lost = self._hole
                self._connections.append(connection)
            threading.Thread(target=connection.run, daemon=True).start()
