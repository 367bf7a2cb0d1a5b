"""What an attack gets: where to attack, how long, and what it does with its connections.

An attack is a function of a Target. It calls spread() with what one connection does; a connection
that was cut is made anew, until the time is over or there were enough."""

import threading
import time
from collections import Counter

from peer import Cut, Over, Peer

CONNECTIONS_MAX = 20000   # that one attack makes
PAUSE_S = 0.005           # after one that was turned away at once


class Clock:
    """When the attack is over; all its connections look at it."""

    def __init__(self, end):
        self.end = end
        self._stopped = threading.Event()

    def stop(self):
        self.end = 0
        self._stopped.set()

    def wait(self, seconds=None):
        """Until it is over, or so long."""
        left = max(self.end - time.monotonic(), 0)
        self._stopped.wait(left if seconds is None else min(left, seconds))


class Target:
    """`certificate`: of the server, as a file; None for plain text. `protocol`: that TLS agrees
    on."""

    kind = Peer  # of its connections

    def __init__(self, address, certificate, seconds, protocol="h2"):
        self.address = address
        self.certificate = certificate
        self.clock = Clock(time.monotonic() + seconds)
        self.protocol = protocol
        self._mutex = threading.Lock()
        self._counts = Counter()

    def goes_on(self):
        return time.monotonic() < self.clock.end

    def stop(self):
        """The time is over."""
        self.clock.stop()

    def connect(self):
        """Cut if it is turned away."""
        with self._mutex:
            self._counts["connections"] += 1
            if self._counts["connections"] > CONNECTIONS_MAX:
                raise Over()
        return self.kind(self.address, self.certificate, self.clock, self.protocol)

    def spread(self, connections, play):
        """`play(peer)` on so many connections at once."""
        threads = [threading.Thread(target=self._play_on, args=(play,), daemon=True)
                   for _ in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def hold(self, connections, greet):
        """As many open connections; `greet(peer)` once on each. Waits for the end, and looks which
        ones still are there."""
        peers = []
        try:
            while len(peers) < connections and self.goes_on():
                peer = self._greeted(greet)
                if peer is not None:
                    peers.append(peer)
            self.clock.wait()
            for peer in peers:
                self._count(peer, not _is_open(peer))
        finally:
            for peer in peers:
                peer.close()

    def facts(self):
        """What was done so far: connections, cuts, units and bytes."""
        with self._mutex:
            return {name: self._counts[name] for name in ("connections", "cut", "units", "bytes")}

    def _greeted(self, greet):
        peer = None
        try:
            peer = self.connect()
            greet(peer)
            return peer
        except Cut:
            with self._mutex:
                self._counts["cut"] += 1
            self.clock.wait(PAUSE_S)
        except Over:
            pass
        if peer is not None:
            peer.close()
        return None

    def _play_on(self, play):
        while self.goes_on():
            peer, is_cut, is_over = None, False, False
            try:
                peer = self.connect()
                play(peer)
                peer.wait()
            except Cut:
                is_cut = True
                self.clock.wait(PAUSE_S)
            except Over:
                is_over = True
            self._count(peer, is_cut)
            if peer is not None:
                peer.close()
            if is_over:
                return

    def _count(self, peer, is_cut):
        with self._mutex:
            self._counts["cut"] += is_cut
            if peer is not None:
                self._counts["units"] += peer.units
                self._counts["bytes"] += peer.sent


def _is_open(peer):
    try:
        peer.read()
        return True
    except (Cut, Over):
        return False
