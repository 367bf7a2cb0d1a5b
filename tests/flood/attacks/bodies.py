"""Requests whose bodies do not end, or come byte by byte, or are larger than they look."""

import gzip
import itertools

import calls
import frames

HELD_BYTES = 48 << 10   # of a body that does not end; below a stream's first window


def _unfinished(peer, streams, size):
    """As many open calls; each has got this much of a message of 1 MiB."""
    peer.begin()
    block = frames.head(calls.ENQUEUE_PATH)
    body = b"\0\0\x10\0\0" + bytes(size)
    for i in range(streams):
        stream = 2 * i + 1
        peer.wait_for_window(len(body))
        data = frames.frame(frames.HEADERS, frames.END_HEADERS, stream, block)
        for at in range(0, len(body), frames.FRAME_BYTES):
            data += frames.frame(frames.DATA, 0, stream, body[at:at + frames.FRAME_BYTES])
        peer.window -= len(body)
        peer.send(data)
        peer.units += 1


def unfinished_bodies(target):
    """6,000 bodies that stop at 48 KiB, on one connection."""
    target.spread(1, lambda peer: _unfinished(peer, 6000, HELD_BYTES))


def unfinished_bodies_100(target):
    """60 such bodies on each of 100 connections."""
    target.spread(100, lambda peer: _unfinished(peer, 60, HELD_BYTES))


def _large(peer):
    """One message of nearly 4 GiB that goes on and on, as the server lets it."""
    peer.begin()
    peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 1, frames.head(calls.ENQUEUE_PATH)))
    peer.send(frames.frame(frames.DATA, 0, 1, b"\0\xff\xff\xff\xf0"))
    sent = 5
    piece = frames.frame(frames.DATA, 0, 1, bytes(frames.FRAME_BYTES))
    while True:
        peer.wait_for_window(frames.FRAME_BYTES)
        peer.wait_for_stream(1, sent + frames.FRAME_BYTES)
        peer.window -= frames.FRAME_BYTES
        sent += frames.FRAME_BYTES
        peer.send(piece)
        peer.units += 1


def endless_bodies(target):
    """A message of nearly 4 GiB on each of 20 connections."""
    target.spread(20, _large)


def _slow(peer):
    """5,900 bodies, to each of which a byte is added in turn."""
    peer.begin()
    streams = [2 * i + 1 for i in range(5900)]
    block = frames.head(calls.ENQUEUE_PATH)
    for at in range(0, len(streams), 50):
        peer.send(b"".join(
            frames.frame(frames.HEADERS, frames.END_HEADERS, stream, block) +
            frames.frame(frames.DATA, 0, stream, b"\0\0\x10\0\0")
            for stream in streams[at:at + 50]))
    for stream in itertools.cycle(streams):
        peer.wait_for_window(1)
        peer.window -= 1
        peer.send(frames.frame(frames.DATA, 0, stream, b"x"))
        peer.units += 1


def slow_bodies(target):
    """On two connections."""
    target.spread(2, _slow)


def _bomb(peer):
    """Whole: 16 kB that unpack to 16 MB."""
    body = frames.message(gzip.compress(bytes(15 << 20)), True)
    peer.begin()
    block = frames.head(calls.ENQUEUE_PATH, grpc_encoding="gzip")
    for stream in range(1, 200000, 2):
        peer.wait_for_window(len(body))
        peer.window -= len(body)
        peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, stream, block) +
                  frames.frame(frames.DATA, frames.END_STREAM, stream, body))
        peer.units += 1


def compressed_bombs(target):
    """Messages that would unpack to a thousand times their size."""
    target.spread(4, _bomb)


def _empty(peer):
    peer.begin()
    peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 1, frames.head(calls.ENQUEUE_PATH)))
    batch = frames.frame(frames.DATA, 0, 1) * 5000
    while True:
        peer.send(batch)
        peer.units += 5000


def empty_data(target):
    """DATA frames of nothing on an open call."""
    target.spread(1, _empty)


PLAYS = (unfinished_bodies, unfinished_bodies_100, endless_bodies, slow_bodies, compressed_bombs,
         empty_data)
