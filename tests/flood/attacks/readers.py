"""Peers that ask and do not take the answers."""

import calls
import frames


def _ask(peer, batch, count):
    """Asks on and on; what stands between it and the server is full soon."""
    peer.begin(acks_settings=False)
    peer.reads = False
    for _ in range(count):
        peer.send(batch)
        peer.units += 1
    peer.wait()


def _call(peer, path, body, count):
    """Calls so often, and reads none of the answers."""
    peer.begin()
    peer.reads = False
    for i in range(count):
        peer.send(calls.whole(path, body, 2 * i + 1))
        peer.units += 1
    peer.wait()


def slow_readers(target):
    """Lists of 3 MiB that nobody reads, 100 on each of 50 connections."""
    target.spread(50, lambda peer: _call(peer, calls.LIST_PATH, calls.list_large(), 100))


def slow_readers_small(target):
    """Small calls whose answers nobody reads, on 4 connections."""
    target.spread(4, lambda peer: _call(peer, calls.ENQUEUE_PATH, calls.enqueue(), 200000))


def unread_pings(target):
    """Pings whose answers nobody reads."""
    batch = frames.frame(frames.PING, 0, 0, b"12345678") * 1000
    target.spread(1, lambda peer: _ask(peer, batch, 100000))


def unread_settings(target):
    """Settings whose acknowledgements nobody reads."""
    batch = frames.frame(frames.SETTINGS, 0, 0, b"\0\x04\0\0\xff\xff") * 1000
    target.spread(1, lambda peer: _ask(peer, batch, 100000))


def unread_resets(target):
    """Streams that the server refuses with a reset that nobody reads."""
    def play(peer):
        peer.begin()
        peer.reads = False
        block = frames.header(b":method", b"POST") + frames.header(b"no", b"call")
        for i in range(0, 400000, 50):
            peer.send(b"".join(
                frames.frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, 2 * k + 1,
                             block) for k in range(i, i + 50)))
            peer.units += 50
        peer.wait()
    target.spread(1, play)


PLAYS = (slow_readers, slow_readers_small, unread_pings, unread_settings, unread_resets)
