"""Streams of producers and workers that read no message, and leases whose answers nobody reads.
Their connections live: they are read, as a library does it, but take no more than the first window
of answers."""

import itertools
import threading

import calls
import frames

CONNECTIONS = 100
STREAMS = 100     # on each
FEEDERS = 2
TASK_BYTES = 12 << 10
MESSAGE_BYTES_MAX = 1000  # of ten enqueues
FEED_EVERY_S = 0.004
PAUSE_S = 0.05    # while no stream takes more


def _open(peer, path, first):
    """All streams, each with its first message; how many bytes each has sent."""
    peer.begin()
    sent = {}
    for number in range(STREAMS):
        stream, message = 2 * number + 1, first(number)
        peer.wait_for_window(len(message))
        peer.window -= len(message)
        peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, stream, frames.head(path)) +
                  frames.frame(frames.DATA, 0, stream, message))
        peer.units += 1
        sent[stream] = len(message)
    return sent


def _feed(peer):
    """Enqueues tasks, some hundred in a second, and reads what is answered."""
    peer.begin()
    body = calls.enqueue(bytes(TASK_BYTES))
    for number in itertools.count():
        peer.wait_for_window(len(body))
        peer.window -= len(body)
        peer.send(calls.whole(calls.ENQUEUE_PATH, body, 2 * number + 1) + frames.more_window(1000))
        peer.units += 1
        peer.wait(FEED_EVERY_S)


def _fed(target, play):
    """Some connections feed the others, who `play` with a number of their own. Who feeds goes on
    with that when its connection was cut."""
    turns = itertools.count()
    mine = threading.local()

    def play_or_feed(peer):
        turn = next(turns)
        if not hasattr(mine, "feeds"):
            mine.feeds = turn % (CONNECTIONS + FEEDERS) >= CONNECTIONS
        if mine.feeds:
            _feed(peer)
        else:
            play(peer, turn)
            peer.wait()
    target.spread(CONNECTIONS + FEEDERS, play_or_feed)


def unread_work(target):
    """10,000 workers on 100 connections with credit for 1,000 tasks each, which others enqueue."""
    _fed(target, lambda peer, turn: _open(
        peer, calls.WORK_PATH, lambda number: calls.hello(f"w{turn}-{number}", 1000)))


def unread_leases(target):
    """10,000 leases of 100 tasks on 100 connections."""
    def play(peer, turn):
        peer.begin()
        for number in range(STREAMS):
            body = calls.lease(f"w{turn}-{number}", queue=calls.QUEUE, max_tasks=100)
            peer.wait_for_window(len(body))
            peer.window -= len(body)
            peer.send(calls.whole(calls.LEASE_PATH, body, 2 * number + 1))
            peer.units += 1
    _fed(target, play)


def unread_produce(target):
    """10,000 producers on 100 connections that enqueue as long as they may."""
    def play(peer):
        numbers = itertools.count(1)
        sent = _open(peer, calls.PRODUCE_PATH, lambda _: calls.enqueues(numbers))
        while True:
            took_any = False
            for stream in sent:
                left = peer.stream_window + peer.stream_windows.get(stream, 0) - sent[stream]
                if min(left, peer.window) >= MESSAGE_BYTES_MAX:
                    message = calls.enqueues(numbers)
                    peer.window -= len(message)
                    sent[stream] += len(message)
                    peer.send(frames.frame(frames.DATA, 0, stream, message))
                    took_any = True
            if not took_any:
                peer.wait(PAUSE_S)
    target.spread(CONNECTIONS, play)


def unread_refusals(target):
    """One producer whose enqueues are all refused, a thousand in a message."""
    def play(peer):
        numbers = itertools.count(1)
        peer.begin()
        peer.send(frames.frame(frames.HEADERS, frames.END_HEADERS, 1,
                               frames.head(calls.PRODUCE_PATH)))
        sent = 0
        while True:
            message = calls.refused_enqueues(numbers, 1000)
            peer.wait_for_window(len(message))
            peer.wait_for_stream(1, sent + len(message))
            peer.window -= len(message)
            sent += len(message)
            peer.send(frames.frame(frames.DATA, 0, 1, message))
            peer.units += 1
    target.spread(1, play)


PLAYS = (unread_work, unread_leases, unread_produce, unread_refusals)
