"""Random cron schedules, each written as text and as the sets of values that the text stands for.

The sets are made beside the text, not read from it: nothing here parses.
"""

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()


class Field:
    def __init__(self, text, values):
        self.text = text
        self.values = frozenset(values)

    @property
    def is_star(self):
        return self.text.startswith("*")


def star(low, high):
    return Field("*", range(low, high + 1))


def values_of(random, low, high, names=()):
    """Single values, as a list."""
    chosen = [random.randint(low, high) for _ in range(random.choice((1, 1, 2, 3)))]
    texts = [names[v - low] if names and random.random() < 0.5 else str(v) for v in chosen]
    return Field(",".join(random.choice((str, str.lower))(t) for t in texts), chosen)


def ranges_of(random, low, high):
    """A part with a range or a step, perhaps beside a single value."""
    first = random.randint(low, high)
    last = random.randint(first, high)
    step = random.randint(1, high - low + 1)
    field = random.choice((
        Field(f"*/{step}", range(low, high + 1, step)),
        Field(f"{first}-{last}", range(first, last + 1)),
        Field(f"{first}-{last}/{step}", range(first, last + 1, step)),
        Field(f"{first}/{step}", range(first, high + 1, step))))
    if random.random() < 0.2:
        extra = random.randint(low, high)
        field = Field(f"{field.text},{extra}", field.values | {extra})
    return field


class Schedule:
    """Matches local times given as (minute, hour, day, month, weekday), Sunday being 0."""

    def __init__(self, seconds, fields):
        self.seconds = seconds
        self.fields = fields
        shown = fields if seconds is None else [seconds, *fields]
        self.text = " ".join(field.text for field in shown)

    @property
    def second_values(self):
        return (0,) if self.seconds is None else sorted(self.seconds.values)

    @property
    def runs_twice(self):
        return self.fields[1].is_star

    def matches_day(self, day, month, weekday):
        _, _, days, months, weekdays = self.fields
        by_day = day in days.values
        by_weekday = weekday in {value % 7 for value in weekdays.values}
        either = not days.is_star and not weekdays.is_star
        return month in months.values and (
            by_day or by_weekday if either else by_day and by_weekday)

    def matches(self, minute, hour, day, month, weekday):
        return (minute in self.fields[0].values and hour in self.fields[1].values
                and self.matches_day(day, month, weekday))


def seconds_of(random):
    return None if random.random() < 0.7 else values_of(random, 0, 59)


def minutes_of(random):
    make = random.choice((star, values_of, values_of, ranges_of))
    return make(0, 59) if make is star else make(random, 0, 59)


def hours_of(random):
    """Mostly of the night, when clocks change."""
    return random.choice((lambda: star(0, 23), lambda: values_of(random, 0, 4),
                          lambda: values_of(random, 0, 4), lambda: values_of(random, 0, 23),
                          lambda: ranges_of(random, 0, 23)))()


def any_schedule(random):
    days = values_of(random, 1, 31) if random.random() < 0.4 else ranges_of(random, 1, 31)
    months = (values_of(random, 1, 12, MONTHS) if random.random() < 0.5
              else ranges_of(random, 1, 12))
    weekdays = (values_of(random, 0, 6, WEEKDAYS) if random.random() < 0.5
                else ranges_of(random, 0, 7))
    return Schedule(seconds_of(random), [
        minutes_of(random), hours_of(random),
        days if random.random() < 0.6 else star(1, 31),
        months if random.random() < 0.5 else star(1, 12),
        weekdays if random.random() < 0.4 else star(0, 7)])


def daily_schedule(random):
    return Schedule(seconds_of(random), [
        minutes_of(random), hours_of(random), star(1, 31), star(1, 12), star(0, 7)])


def schedule_on(random, date):
    """Of one day of the year."""
    return Schedule(seconds_of(random), [
        minutes_of(random), hours_of(random), Field(str(date.day), {date.day}),
        Field(str(date.month), {date.month}), star(0, 7)])
