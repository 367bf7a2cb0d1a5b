"""The slow way to planned times of a schedule: minute by minute, by the zone rules of Python."""

import datetime

UTC = datetime.timezone.utc
MINUTE = datetime.timedelta(minutes=1)
DAY = datetime.timedelta(days=1)


def fields_of(local):
    return local.minute, local.hour, local.day, local.month, local.isoweekday() % 7


def change_in(zone, year):
    """The first minute after each change of the zone's offset in a year."""
    found = []
    at = datetime.datetime(year, 1, 1, tzinfo=UTC)
    while at.year == year:
        if at.astimezone(zone).utcoffset() != (at + DAY).astimezone(zone).utcoffset():
            minute = at
            while minute.astimezone(zone).utcoffset() == at.astimezone(zone).utcoffset():
                minute += MINUTE
            found.append(minute)
        at += DAY
    return found


class WallClock:
    """What a zone's clock shows in each minute from `first` to `last`, and what it skips."""

    def __init__(self, zone, first, last):
        self.last = last
        self._minutes = []  # (instant, fields, is the second of two)
        before = None
        at = first
        while at <= last:
            local = at.astimezone(zone)
            offset = local.utcoffset()
            if before is not None and offset > before:
                self._skip(at, before, offset)
            self._minutes.append((at.timestamp(), fields_of(local), local.fold == 1))
            before = offset
            at += MINUTE

    def _skip(self, change, before, after):
        """Each skipped minute happens as late as if the clock had not been changed."""
        at = change
        while at < change + (after - before):
            self._minutes.append((at.timestamp(), fields_of(at + before), False))
            at += MINUTE

    def planned_times(self, schedule):
        """Instants, in seconds since 1970."""
        return sorted({
            int(instant) + second
            for instant, fields, is_second in self._minutes
            if schedule.matches(*fields) and (schedule.runs_twice or not is_second)
            for second in schedule.second_values
        })


def next_in_utc(schedule, after, years):
    """The first planned time in UTC, day by day; None if there is none for so long."""
    times = [(hour, minute, second) for hour in sorted(schedule.fields[1].values)
             for minute in sorted(schedule.fields[0].values)
             for second in schedule.second_values]
    date = after.date()
    for _ in range(years * 366):
        if schedule.matches_day(date.day, date.month, date.isoweekday() % 7):
            for time in times:
                planned = datetime.datetime.combine(date, datetime.time(*time), UTC)
                if planned > after:
                    return planned
        date += DAY
    return None
