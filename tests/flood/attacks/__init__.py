"""Every attack, by its name."""

from attacks import bodies, headers, http1, idle, readers, resets, small, streams

PLAYS = {play.__name__: play for module in (resets, headers, bodies, idle, readers, small, streams,
                                                http1)
         for play in module.PLAYS}
# What plays at the port of HTTP.
AT_HTTP = {play.__name__ for play in http1.PLAYS}
