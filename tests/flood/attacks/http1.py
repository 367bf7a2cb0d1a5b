"""What plays at the HTTP port: bytes of HTTP/1.1."""

import gzip
import json
import ssl

import calls
from peer import Cut, Peer

LIST, LEASE, ENQUEUE = ("/" + path.lstrip("/") for path in (
    calls.LIST_PATH, calls.LEASE_PATH, calls.ENQUEUE_PATH))
BODY_BYTES = 4 << 20
STEP_S = 1


class Plain(Peer):
    """What comes is no frame."""

    def goes_on(self):
        return self._left() > 0

    def sip(self, size):
        """Reads so many bytes, if they are there."""
        try:
            if self.socket.recv(size) == b"":
                raise Cut("ended")
        except (BlockingIOError, ssl.SSLWantReadError):
            pass
        except OSError as error:
            raise Cut(error) from error

    def _take(self, data):
        return b""


def at_http(play):
    """An attack on the port of HTTP."""
    def attack(target):
        target.protocol, target.kind = "http/1.1", Plain
        play(target)
    attack.__name__, attack.__doc__ = play.__name__, play.__doc__
    return attack


def post(path, body, *fields, size=None):
    """A request; `size`: what it says of its body."""
    size = len(body) if size is None else size
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *fields]
    if not any(field.startswith("Transfer-Encoding") for field in fields):
        lines.append(f"Content-Length: {size}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def as_json(**fields):
    return json.dumps(fields).encode()


def drip(peer, first, part):
    """A part each second, for as long as the other side bears it."""
    peer.send(first)
    while True:
        peer.wait(STEP_S)
        peer.send(part)
        peer.units += 1


@at_http
def http_slow_headers(target):
    """200 requests whose header gets a byte each second."""
    target.spread(200, lambda peer: drip(peer, b"POST / HTTP/1.1\r\nHost: localhost\r\nX: ", b"x"))


@at_http
def http_slow_bodies(target):
    """200 requests whose body gets a byte each second."""
    first = post(ENQUEUE, b"{", size=BODY_BYTES)
    target.spread(200, lambda peer: drip(peer, first, b" "))


@at_http
def http_unended_bodies(target):
    """200 bodies of 4 MiB without their last byte."""
    body = post(ENQUEUE, b" " * (BODY_BYTES - 1), size=BODY_BYTES)

    def play(peer):
        peer.send(body)
        peer.units += 1
        peer.wait()
    target.spread(200, play)


@at_http
def http_idle(target):
    """10,000 connections that say nothing."""
    target.hold(10000, lambda peer: None)


@at_http
def http_kept(target):
    """5,000 connections that asked once, and stay."""
    def greet(peer):
        peer.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        peer.units += 1
    target.hold(5000, greet)


@at_http
def http_parked(target):
    """5,000 leases that wait, each on a connection of its own."""
    def greet(peer):
        peer.units += 1
        peer.send(post(LEASE, as_json(queues=[{"name": "empty"}], wait="60s", maxTasks=1,
                                      workerId=f"w{id(peer)}")))
    target.hold(5000, greet)


@at_http
def http_reconnecting(target):
    """20 peers that connect, ask and leave, over and over."""
    def play(peer):
        peer.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        peer.units += 1
        raise Cut("leaves by itself")
    target.spread(20, play)


@at_http
def http_bombs(target):
    """Bodies of 4 kB that unpack to 4 MiB, and of 64 kB that unpack to 64 MiB, on 20
    connections."""
    bombs = [post(ENQUEUE, gzip.compress(b" " * size), "Content-Encoding: gzip")
             for size in (BODY_BYTES - 1, BODY_BYTES << 4)]

    def play(peer):
        while True:
            for bomb in bombs:
                peer.send(bomb)
                peer.units += 1
                peer.wait(0.001)
    target.spread(20, play)


def _without_end(target, begin, thousand):
    """`begin`, and then pieces, a thousand at once."""
    def play(peer):
        peer.send(begin)
        while True:
            peer.send(thousand)
            peer.units += 1000
    target.spread(20, play)


@at_http
def http_chunks(target):
    """Bodies without an end, in chunks of a byte with an extension each, on 20 connections."""
    _without_end(target, post(ENQUEUE, b"", "Transfer-Encoding: chunked"),
                 b"1;extension=xxxxxxxx\r\n \r\n" * 1000)


@at_http
def http_headers(target):
    """Headers without an end, on 20 connections."""
    _without_end(target, b"POST / HTTP/1.1\r\nHost: localhost\r\n",
                 b"".join(b"X-%d: %s\r\n" % (i, b"x" * 100) for i in range(1000)))


@at_http
def http_pipelined(target):
    """Small requests one behind the other, answers read, on 4 connections."""
    batch = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100

    def play(peer):
        while True:
            peer.send(batch)
            peer.units += 100
    target.spread(4, play)


@at_http
def http_unread(target):
    """Lists of 3 MiB that nobody reads: 100 requests one behind the other on each of 50
    connections."""
    ask = post(LIST, as_json(filter={"queue": calls.LARGE_QUEUE}, view="TASK_VIEW_FULL"))

    def play(peer):
        peer.reads = False
        peer.send(ask * 100)
        peer.units += 100
        peer.wait()
    target.spread(50, play)


@at_http
def http_sips(target):
    """The same, but a kilobyte of them is read each second."""
    ask = post(LIST, as_json(filter={"queue": calls.LARGE_QUEUE}, view="TASK_VIEW_FULL"))

    def play(peer):
        peer.reads = False
        peer.send(ask)
        peer.units += 1
        while peer.goes_on():
            peer.wait(STEP_S)
            peer.sip(1024)
    target.spread(50, play)


PLAYS = (http_slow_headers, http_slow_bodies, http_unended_bodies, http_idle, http_kept,
         http_parked, http_reconnecting, http_bombs, http_chunks, http_headers, http_pipelined,
         http_unread, http_sips)
