"""One attack as a process of its own, so that it takes no time from who measures it.

    attacker.py NAME ADDRESS CERTIFICATE|- SECONDS

Prints "attacking" when it begins, and at its end what it did, as JSON."""

import json
import sys

import place  # noqa: F401  (first)
from attacks import PLAYS
from target import Target


def main(name, address, certificate, seconds):
    print("attacking", flush=True)
    target = Target(address, None if certificate == "-" else certificate, float(seconds))
    PLAYS[name](target)
    print(json.dumps(target.facts()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
