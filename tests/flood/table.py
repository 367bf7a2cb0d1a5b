"""The table of attacks; see `tests/flood/run --help`."""

import argparse
import json
import sys

import place  # noqa: F401  (first)
from attacks import PLAYS
from support.folder import Folder
from trial import Trial

HEAD = ("| attack | TLS | peer's connections (cut), frames, MB | memory MB: before, most, "
        "10 s, later | others: p99 ms before; calls, failed, p99 ms, max ms | "
        "first call after, ms |\n"
        "|---|---|---|---|---|---|")


def megabytes(size):
    return str(round(size / (1 << 20)))


def row(facts):
    peer, calls = facts["attacker"], facts["calls"]
    failed = ", ".join(f"{count} {code}" for code, count in calls["failed"].items()) or "0"
    if not facts["runs"]:
        failed += ", THE BROKER DIED"
    first = "none" if calls["first_after"] is None else round(calls["first_after"] * 1000)
    memory = ", ".join(megabytes(facts[name]) for name in ("before", "most", "after_10", "after"))
    if facts["proxy_most"]:
        memory += f"; proxy {megabytes(facts['proxy_most'])}"
    return (f"| {facts['attack']} | {'yes' if facts['tls'] else 'no'} | {peer['connections']} "
            f"({peer['cut']}), {peer['units']}, {megabytes(peer['bytes'])} | {memory} | "
            f"{calls['p99_before'] * 1000:.0f}; "
            f"{calls['during']}, {failed}, {calls['p99'] * 1000:.0f}, {calls['max'] * 1000:.0f} | "
            f"{first} |")


def main():
    parser = argparse.ArgumentParser(
        prog="tests/flood/run", description="Attacks a broker, one attack after the other, each on "
        "a broker of its own, beside callers that mind their own business. Attacks: "
        + ", ".join(PLAYS))
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help="all by default")
    parser.add_argument("--seconds", type=float, default=8, help="of each attack (8)")
    parser.add_argument("--after", type=float, default=30,
                        help="how long memory is looked at afterwards (30 s)")
    parser.add_argument("--tls", choices=("no", "yes", "both"), default="both")
    parser.add_argument("--proxy", choices=("nginx", "haproxy"),
                        help="before the broker, as it is shipped; with TLS")
    parser.add_argument("--json", action="store_true", help="one object per line")
    parser.add_argument("--log", action="store_true", help="what each broker logged, on stderr")
    parser.add_argument("--flag", action="append", default=[], help="of the broker")
    options = parser.parse_args()
    unknown = set(options.attacks) - set(PLAYS)
    if unknown:
        parser.error("no such attack: " + ", ".join(sorted(unknown)))
    if not options.json:
        print(HEAD, flush=True)
    for name in options.attacks or PLAYS:
        forms = {"no": [False], "yes": [True], "both": [False, True]}[options.tls]
        for tls in [True] if options.proxy else forms:
            play(name, tls, options)


def play(name, tls, options):
    files = None
    if tls:
        files = Folder()
        for pair in ("server", "proxy"):
            files.make_pair(pair)
        files.write("proxy.pem", "".join(files.read(f"proxy.{end}").decode()
                                         for end in ("crt", "key")))
    trial = Trial(files, options.flag, options.proxy)
    try:
        facts = trial.run(name, options.seconds, options.after)
        print(json.dumps(facts) if options.json else row(facts), flush=True)
        if options.log or not facts["runs"]:
            print(trial.broker.output, file=sys.stderr)
    finally:
        trial.end()
        if files is not None:
            files.remove()


if __name__ == "__main__":
    main()
