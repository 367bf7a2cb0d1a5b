"""Every attack, by its name."""

from attacks import bodies, headers, idle, readers, resets, small

PLAYS = {play.__name__: play for module in (resets, headers, bodies, idle, readers, small)
         for play in module.PLAYS}
