"""Frames that ask for nothing, as many as fit."""

import frames


def _repeat(target, batch, connections=1):
    def play(peer):
        peer.begin()
        while True:
            peer.send(batch)
            peer.units += 1000
    target.spread(connections, play)


def pings(target):
    """Pings, answers read."""
    _repeat(target, frames.frame(frames.PING, 0, 0, b"12345678") * 1000)


def settings(target):
    """Settings that change a window to and fro, answers read."""
    _repeat(target, (frames.frame(frames.SETTINGS, 0, 0, b"\0\x04\0\0\xff\xff") +
                     frames.frame(frames.SETTINGS, 0, 0, b"\0\x04\0\0\xff\xfe")) * 500)


def window_updates(target):
    """Windows that grow by a byte."""
    _repeat(target, frames.frame(frames.WINDOW_UPDATE, 0, 0, b"\0\0\0\1") * 1000)


def priorities(target):
    """Priorities of streams that there are not."""
    _repeat(target, frames.frame(frames.PRIORITY, 0, 1, b"\0\0\0\0\x10") * 1000)


PLAYS = (pings, settings, window_updates, priorities)
