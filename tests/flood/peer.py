"""One connection of an attacker: bytes as they are, with or without TLS, and what comes back.

It reads while it writes, unless it is told not to, and looks only at what an attack needs: windows,
pings, settings, and that the other side ended it."""

import os
import select
import socket
import ssl
import struct
import time

import frames

READ_BYTES = 1 << 18
# Another address than the bystander's, where each has limits of its own.
SOURCE = (os.environ["ATTACK_FROM"], 0) if "ATTACK_FROM" in os.environ else None
LOOK_S = 0.2  # how long it may take until it sees that the time is over


class Cut(Exception):
    """The other side ended the connection, or never took it."""


class Over(Exception):
    """The time of the attack is over."""


class Peer:
    """`clock.end`: when the attack is over, by the monotonic clock; it may become sooner. `reads`:
    whether it takes what is sent to it. Not thread-safe."""

    def __init__(self, address, certificate, clock, protocol="h2"):
        host, port = address.rsplit(":", 1)
        self.clock = clock
        self.sent = 0
        self.units = 0            # what the attack counts: streams, frames, requests
        self.reads = True
        self.acks_settings = True
        self.window = frames.WINDOW      # of the connection, that is left
        self.stream_window = frames.WINDOW  # that a stream has at first
        self.resets = 0           # streams that the other side ended
        self.stream_windows = {}  # what the other side added, by stream
        self._unread = b""
        self._replies = b""       # between whole frames only, which send() gets
        try:
            self.socket = socket.create_connection((host, int(port)),
                                                   timeout=max(self._left(), 0.1),
                                                   source_address=SOURCE)
            if certificate is not None:
                context = ssl.create_default_context(cafile=certificate)
                context.check_hostname = False
                context.set_alpn_protocols([protocol])
                self.socket = context.wrap_socket(self.socket)
        except (OSError, ssl.SSLError) as error:
            raise Cut(error) from error
        self.socket.setblocking(False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def begin(self, acks_settings=True):
        """Of HTTP/2."""
        self.acks_settings = acks_settings
        self.send(frames.PREFACE + frames.frame(frames.SETTINGS, 0, 0))

    def send(self, data):
        """All of it. Cut or Over if that does not come to an end."""
        view = memoryview(self._replies + data)
        self._replies = b""
        while view:
            count = self._write(view)
            view = view[count:]
            self.sent += count
            if self.reads:
                self.read()
            if view and count == 0:
                self._wait(select.POLLOUT | (select.POLLIN if self.reads else 0))
            elif self._left() <= 0:
                raise Over()

    def read(self):
        """What is there now."""
        while block := self._read():
            self._unread += block
            self._unread = self._take(self._unread)

    def wait(self, seconds=None):
        """Reads what comes until then, or until the attack is over."""
        until = None if seconds is None else time.monotonic() + seconds
        while self._left(until) > 0:
            poll = select.poll()
            poll.register(self.socket, select.POLLIN if self.reads else 0)
            if poll.poll(min(self._left(until), LOOK_S) * 1000):
                if not self.reads:
                    raise Cut("ended")
                self.read()
                self._reply()

    def wait_for_window(self, size):
        """Until the connection takes so many bytes of bodies more."""
        while self.window < size:
            self._wait(select.POLLIN)
            self.read()
            self._reply()

    def wait_for_stream(self, stream, size):
        """Until this one takes so many bytes in all."""
        while self.stream_window + self.stream_windows.get(stream, 0) < size:
            self._wait(select.POLLIN)
            self.read()
            self._reply()

    def _left(self, until=None):
        end = self.clock.end if until is None else min(self.clock.end, until)
        return end - time.monotonic()

    def _wait(self, events):
        poll = select.poll()
        poll.register(self.socket, events)
        while not poll.poll(LOOK_S * 1000):
            if self._left() <= 0:
                raise Over()

    def _write(self, view):
        try:
            return self.socket.send(view[:1 << 18])
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return 0
        except OSError as error:
            raise Cut(error) from error

    def _read(self):
        try:
            block = self.socket.recv(READ_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return b""
        except OSError as error:
            raise Cut(error) from error
        if not block:
            raise Cut("ended")
        return block

    def _take(self, data):
        """Answers whole frames; what is left of the last one."""
        at = 0
        while at + 9 <= len(data):
            size = int.from_bytes(data[at:at + 3], "big")
            if at + 9 + size > len(data):
                break
            kind, flags = data[at + 3], data[at + 4]
            stream = int.from_bytes(data[at + 5:at + 9], "big")
            self._answer(kind, flags, stream, data[at + 9:at + 9 + size])
            at += 9 + size
        return data[at:]

    def _answer(self, kind, flags, stream, body):
        if kind == frames.WINDOW_UPDATE and stream == 0:
            self.window += struct.unpack(">I", body)[0]
        elif kind == frames.WINDOW_UPDATE:
            added = self.stream_windows.get(stream, 0) + struct.unpack(">I", body)[0]
            self.stream_windows[stream] = added
        elif kind == frames.RST_STREAM:
            self.resets += 1
        elif kind == frames.PING and not flags & frames.ACK:
            self._replies += frames.frame(frames.PING, frames.ACK, 0, body)
        elif kind == frames.SETTINGS and not flags & frames.ACK:
            for name, value in struct.iter_unpack(">HI", body):
                if name == frames.INITIAL_WINDOW_SIZE:
                    self.stream_window = value
            if self.acks_settings:
                self._replies += frames.frame(frames.SETTINGS, frames.ACK, 0)

    def _reply(self):
        if self._replies:
            self.send(b"")
