"""Kills brokers, workers and PostgreSQL; see `tests/kills/run --help`."""

import argparse
import collections
import os
import random
import shutil
import sys
import tempfile
import time

import place  # noqa: F401  (first)
import judge
from rounds import Round

SHOWN = 20  # breaches of a round that are printed


def options_of(arguments):
    parser = argparse.ArgumentParser(
        prog="tests/kills/run",
        description="Kills brokers, workers and PostgreSQL (SIGKILL) at random moments of pushes, "
        "settlements and enqueues, round by round. After each round all tasks are run to their "
        "end, and what producers and workers were told is compared with the database. Prints a "
        "line for each round and one for all. If a promise broke, it says where the evidence is, "
        "and the exit code is 1.")
    parser.add_argument("--brokers", type=int, default=100, help="to kill (100)")
    parser.add_argument("--workers", type=int, default=100, help="to kill (100)")
    parser.add_argument("--databases", type=int, default=0,
                        help="how often to kill all of a PostgreSQL of the round's own (0)")
    parser.add_argument("--rounds", type=int, help="which share the kills (one for each 100)")
    parser.add_argument("--seconds", type=float, default=3600, help="no kill comes later (3600)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and victims (random)")
    parser.add_argument("--running-brokers", type=int, default=1, help="at any time (1)")
    parser.add_argument("--running-workers", type=int, default=4, help="at any time (4)")
    parser.add_argument("--lease-seconds", type=float, default=5, help="lease duration (5)")
    parser.add_argument("--packing", action="store_true",
                        help="in a queue that packs, most tasks in batches of 16 to 64")
    parser.add_argument("--broker-flag", action="append", default=[], help="of each broker")
    options = parser.parse_args(arguments)
    options.seed = options.seed or random.randrange(1, 10**9)
    options.rounds = options.rounds or max(1, -(-max(options.brokers, options.workers,
                                                       options.databases) // 100))
    return options


def share(total, rounds, number):
    """Of the round with this number, from 0."""
    return total * (number + 1) // rounds - total * number // rounds


def play(options, number, end_time):
    """A round: its breaches, its figures and its folder, which is left only if something broke."""
    folder = tempfile.mkdtemp(prefix="skiplane-kills-")
    a_round = Round(folder, f"{options.seed} {number}", options)
    try:
        a_round.run(*(share(count, options.rounds, number) for count in
                      (options.brokers, options.workers, options.databases)), end_time)
        evidence = judge.Evidence.of(a_round)
    finally:
        a_round.end()
    broken = a_round.faults + list(judge.broken_in(evidence))
    if broken:
        with open(os.path.join(folder, "history"), "w", encoding="utf-8") as file:
            file.writelines(f"{row}\n" for row in sorted(evidence.history))
    else:
        shutil.rmtree(folder)
    figures = collections.Counter({"brokers killed": a_round.brokers_killed,
                                   "of them with commits held back": a_round.held_back,
                                   "workers killed": len(a_round.workers_killed),
                                   "PostgreSQL killed": a_round.databases_killed})
    figures.update(judge.figures(evidence))
    return broken, figures, folder


def line_of(figures):
    return ", ".join(f"{name} {count}" for name, count in figures.items())


def main(arguments):
    options = options_of(arguments)
    begin = time.monotonic()
    total, is_broken = collections.Counter(), False
    print(f"seed {options.seed}", flush=True)
    for number in range(options.rounds):
        broken, figures, folder = play(options, number, begin + options.seconds)
        total.update(figures)
        print(f"round {number + 1}: {line_of(figures)}", flush=True)
        if broken:
            is_broken = True
            print(f"BROKEN, {len(broken)} times, with seed {options.seed}; {folder} has what every "
                  "process noted:", *broken[:SHOWN], sep="\n  ", flush=True)
        if time.monotonic() > begin + options.seconds:
            break
    if options.packing and not total["packed"]:
        is_broken = True
        print("nothing was packed", flush=True)
    print(f"seed {options.seed}: {line_of(total)}, seconds {time.monotonic() - begin:.0f}: "
          f"{'BROKEN' if is_broken else 'nothing broke'}", flush=True)
    return 1 if is_broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
