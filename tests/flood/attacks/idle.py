"""Connections that do nothing, or hardly anything."""

import calls
from peer import Cut

MANY = 10000


def idle_tcp(target):
    """10,000 connections that say nothing."""
    target.hold(MANY, lambda peer: None)


def idle_http2(target):
    """10,000 connections that begin HTTP/2 and call nothing."""
    target.hold(MANY, lambda peer: peer.begin())


def reconnecting(target):
    """20 peers that connect, greet and leave, over and over."""
    def play(peer):
        peer.begin()
        peer.units += 1
        raise Cut("leaves by itself")
    target.spread(20, play)


def parked(target):
    """5,000 leases that wait on each of 4 connections."""
    def play(peer):
        peer.begin()
        for i in range(5000):
            peer.send(calls.whole(calls.LEASE_PATH, calls.lease(f"w{i}"), 2 * i + 1))
            peer.window -= 100
            peer.units += 1
            if peer.window < 1000:
                peer.wait_for_window(1000)
    target.spread(4, play)


PLAYS = (idle_tcp, idle_http2, reconnecting, parked)
