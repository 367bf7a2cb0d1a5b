"""skiplane.cron_next says what walking the clock says, on random schedules.

SKIPLANE_TEST_SEED repeats a run.
"""

import bisect
import datetime
import os
import random
import sys
import unittest
import zoneinfo

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
sys.path[:0] = [FOLDER, os.path.join(ROOT, "tests", "system")]

# pylint: disable=wrong-import-position
import schedule as schedules  # noqa: E402
from support import cluster  # noqa: E402
from support.database import Database  # noqa: E402
from wall_clock import DAY, UTC, WallClock, change_in, next_in_utc  # noqa: E402

CHANGES = 100
SCHEDULES_EACH = 6
STARTS_EACH = 8
CALENDAR_CASES = 1000
CALENDAR_YEARS = 45
SEED = int(os.environ.get("SKIPLANE_TEST_SEED") or random.SystemRandom().randrange(2**31))

ZONES = sorted(
    name for name in zoneinfo.available_timezones()
    if "/" in name and not name.startswith(("Etc/", "posix/", "right/", "SystemV/")))
# Offsets that are changed by something else than an hour, or to an odd one.
ODD_ZONES = ("Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Chatham", "America/St_Johns",
             "Antarctica/Troll", "Pacific/Apia", "Asia/Kathmandu", "America/Caracas")


def quoted(case):
    text, zone, after = case
    return f"('{text}', '{zone}', TIMESTAMPTZ '{after.isoformat()}')"


class Cron(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)
        print(f"SKIPLANE_TEST_SEED={SEED}")
        self.database = Database(cluster.shared())
        self.addCleanup(self.database.drop)
        part = os.path.join(ROOT, "migrations", "0001_first", "70_cron.sql")
        with open(part, encoding="utf-8") as file:
            self.database.run("CREATE SCHEMA skiplane;" + file.read())

    def answers(self, cases):
        """cron_next for each, in seconds since 1970; None where the schedule is refused."""
        rows = self.database.run(
            "SELECT CASE WHEN skiplane.cron_problem(c, z) IS NULL"
            " THEN extract(epoch FROM skiplane.cron_next(c, z, a))::int8 END"
            f" FROM (VALUES {','.join(map(quoted, cases))}) given (c, z, a)")
        return [int(row[0]) if row[0] else None for row in rows]

    def changes(self):
        """Changes of offsets: (zone, instant)."""
        found = []
        while len(found) < CHANGES:
            name = self.random.choice(ODD_ZONES if self.random.random() < 0.3 else ZONES)
            at = change_in(zoneinfo.ZoneInfo(name), self.random.randint(1975, 2036))
            if at:
                found.append((name, self.random.choice(at)))
        return found

    def starts(self, planned_times, change):
        """Where to look from: about the change, and just at planned times near it."""
        near = planned_times[bisect.bisect(planned_times, (change - DAY).timestamp()):
                             bisect.bisect(planned_times, (change + 2 * DAY).timestamp())]
        for _ in range(STARTS_EACH):
            reach = self.random.choice((3600, 4 * 3600, 86400, 2 * 86400))
            start = change + datetime.timedelta(seconds=self.random.uniform(-reach, reach))
            if near and self.random.random() < 0.5:
                start = datetime.datetime.fromtimestamp(self.random.choice(near), UTC)
                start -= datetime.timedelta(microseconds=self.random.choice((0, 0, 1)))
            yield start

    def cases_at(self, name, change):
        """Yields ((text, zone, start), the planned time or None, the end of what is known)."""
        zone = zoneinfo.ZoneInfo(name)
        clock = WallClock(zone, change.replace(second=0) - 3 * DAY, change + 5 * DAY)
        for _ in range(SCHEDULES_EACH):
            on_a_day = self.random.random() < 0.4
            if on_a_day:
                date = (change + self.random.choice((-DAY / 12, DAY / 24))).astimezone(zone)
                made = schedules.schedule_on(self.random, date)
            else:
                make = self.random.choice((schedules.daily_schedule, schedules.any_schedule))
                made = make(self.random)
            planned_times = clock.planned_times(made)
            starts = list(self.starts(planned_times, change))
            if on_a_day:  # nothing is planned in the months before
                starts.append(change - DAY * self.random.randint(5, 300))
            for start in starts:
                index = bisect.bisect_right(planned_times, start.timestamp())
                planned = planned_times[index] if index < len(planned_times) else None
                yield (made.text, name, start), planned, clock.last.timestamp()

    def test_planned_times_about_changes_of_the_clock_are_those_of_walking_through_them(self):
        expected = [case for at in self.changes() for case in self.cases_at(*at)]
        got = self.answers([case for case, _, _ in expected])
        known = 0
        for (case, planned, end), answer in zip(expected, got):
            if answer is None:
                self.assertIsNone(planned, case)
            elif planned is None:
                self.assertGreater(answer, end, case)
            else:
                known += 1
                self.assertEqual(answer, planned, case)
        self.assertGreater(known, len(expected) / 2)

    def test_planned_times_of_the_calendar_are_those_of_walking_through_it(self):
        cases, expected = [], []
        for _ in range(CALENDAR_CASES):
            made = schedules.any_schedule(self.random)
            after = datetime.datetime(1970, 1, 1, tzinfo=UTC) + datetime.timedelta(
                microseconds=self.random.randrange(230 * 365 * 86400 * 10**6))
            planned = next_in_utc(made, after, CALENDAR_YEARS)
            cases.append((made.text, "UTC", after))
            expected.append(None if planned is None else int(planned.timestamp()))
        for case, planned, answer in zip(cases, expected, self.answers(cases)):
            self.assertEqual(answer, planned, case)


if __name__ == "__main__":
    unittest.main()
