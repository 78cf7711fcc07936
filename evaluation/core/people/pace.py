"""How fast people judge, what they judged when, and when they will be through.

Times of answers come as whole milliseconds from showing a pair to its answer, below 0 where they
are not known; moments as whole seconds since 1970 (UTC).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray

# Longer than this over one pair, and the person was away.
BREAK_MS: Final = 120_000
# Nobody has looked at a video in less.
TOO_FAST_MS: Final = 700

HOUR: Final = 3600
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY
# The first day of 1970 was a Thursday: weeks begin four days later.
MONDAY: Final = 4 * DAY
# So many bars can be told apart.
BARS: Final = 60

# What the forecast looks at: the last so many hours in which anybody judged, of two weeks.
ACTIVE_HOURS: Final = 24
LOOK_BACK_HOURS: Final = 14 * 24
STOPPED_AFTER: Final = 2 * DAY
# Eight times in ten, a normal variable lies within so many standard deviations.
EIGHT_IN_TEN: Final = 1.2816

NOT_TIMED: Final = "no times are known"
ALL_THERE: Final = "all labels are there"
STOPPED: Final = "nobody has judged for two days"
ONLY_BEGUN: Final = "judging has only begun"


@dataclass(frozen=True, slots=True)
class Times:
    """How long answers took, in seconds.

    known: answers whose time is known, `breaks` among them, which the quantiles leave out, and
    `too_fast`. The quantiles are those of 25, 50, 75 and 90 per cent, or None.
    """

    known: int
    unknown: int
    breaks: int
    too_fast: int
    quantiles: tuple[float, float, float, float] | None


@dataclass(frozen=True, slots=True)
class Span:
    """Stretches of `width` seconds, `count` of them, from the moment `start` on."""

    start: int
    width: int
    count: int

    def place(self, at: IntArray) -> IntArray:
        """The stretch of each moment within the span."""
        return (at - self.start) // self.width


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of a campaign that stand, a row each; all arrays are [n].

    people: dense numbers from 0. tasks: any numbers that tell tasks apart. labels: as they were
    given. is_relevant: bool. is_counted: bool, not surplus and not gold. is_planned: bool, counted
    and among the first labels of its task, which were planned. gold: int64, 1 for a
    right answer to gold, 0 for a wrong one, -1 for what is no gold, or is retired. is_gold: bool.
    ms, at: see above.
    """

    people: IntArray
    tasks: IntArray
    labels: IntArray
    is_relevant: BoolArray
    is_counted: BoolArray
    is_planned: BoolArray
    is_gold: BoolArray
    gold: IntArray
    ms: IntArray
    at: IntArray

    def __len__(self) -> int:
        return len(self.people)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What happened in one stretch of time.

    answers: all that stand, `counted` among them, of which `relevant` say relevant. gold, right:
    answers to gold, and how many were right. people: how many answered. seconds: the median of
    the times, without breaks; None where none is known.
    """

    start: int
    answers: int
    counted: int
    relevant: int
    gold: int
    right: int
    people: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Turn:
    """The first labels of all pairs, or the second, and so on: how many there are and how many
    are still wanted."""

    number: int
    given: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the last label will be there if all goes on as it did, or the reason why nobody knows.

    per_hour: labels per hour in which anybody judged, over `hours` of them. The end lies between
    `earliest` and `latest` eight times in ten; `latest` is None where the pace varies too much.
    """

    wanted: int
    per_hour: float | None = None
    hours: int = 0
    earliest: int | None = None
    latest: int | None = None
    undefined: str | None = None


def answer_times(ms: IntArray) -> Times:
    known = ms[ms >= 0]
    worked = known[known <= BREAK_MS]
    return Times(
        known=len(known),
        unknown=len(ms) - len(known),
        breaks=len(known) - len(worked),
        too_fast=int((known < TOO_FAST_MS).sum()),
        quantiles=_quantiles(worked) if len(worked) else None,
    )


def _quantiles(ms: IntArray) -> tuple[float, float, float, float]:
    quarter, half, three_quarters, most = (np.quantile(ms, [0.25, 0.5, 0.75, 0.9]) / 1000).tolist()
    return quarter, half, three_quarters, most


def hours_at_work(answers: Answers, n_people: int) -> FloatArray:
    """How long each person judged, in hours, [n_people].

    Between two answers lies either the time since the one before or, where answers arrived in a
    heap, the time that the person took over it; more than two minutes count as two.
    """
    order = np.lexsort((answers.at, answers.people))
    people, at = answers.people[order], answers.at[order]
    gap = np.diff(at, prepend=0) * 1000
    gap[np.diff(people, prepend=-1) != 0] = 0
    spent = np.minimum(np.maximum(gap, answers.ms[order]), BREAK_MS)
    spent = np.maximum(spent, 0)
    return np.bincount(people, weights=spent, minlength=n_people) / 1000 / HOUR


def medians(groups: IntArray, values: IntArray, n_groups: int) -> FloatArray:
    """The median of each group's values, [n_groups], NaN where it has none."""
    order = np.lexsort((values, groups))
    ordered = values[order].astype(np.float64)
    sizes = np.bincount(groups, minlength=n_groups)
    firsts = np.cumsum(sizes) - sizes
    found = np.full(n_groups, np.nan)
    some = sizes > 0
    low = firsts[some] + (sizes[some] - 1) // 2
    high = firsts[some] + sizes[some] // 2
    found[some] = (ordered[low] + ordered[high]) / 2
    return found


def span_of(at: IntArray) -> Span | None:
    """Hours, days, weeks or four weeks, the shortest of which few enough cover all moments."""
    if len(at) == 0:
        return None
    first, last = int(at.min()), int(at.max())
    widths = (HOUR, DAY, WEEK, 4 * WEEK)
    spans = [_covering(first, last, width) for width in widths]
    return next((span for span in spans if span.count <= BARS), spans[-1])


def _covering(first: int, last: int, width: int) -> Span:
    origin = MONDAY if width >= WEEK else 0
    start = (first - origin) // width * width + origin
    return Span(start, width, (last - start) // width + 1)


def over_time(answers: Answers, span: Span) -> tuple[Stretch, ...]:
    """One row for each stretch of the span, also where nothing happened."""
    place = span.place(answers.at)

    def count(which: BoolArray) -> list[int]:
        found: list[int] = np.bincount(place[which], minlength=span.count).tolist()
        return found

    timed = (answers.ms >= 0) & (answers.ms <= BREAK_MS)
    seconds = medians(place[timed], answers.ms[timed], span.count) / 1000
    everything = np.ones(len(answers), dtype=np.bool_)
    columns = zip(
        count(everything),
        count(answers.is_counted),
        count(answers.is_counted & answers.is_relevant),
        count(answers.gold >= 0),
        count(answers.gold == 1),
        _different(place, answers.people, span.count),
        [None if np.isnan(value) else value for value in seconds.tolist()],
        strict=True,
    )
    return tuple(
        Stretch(span.start + number * span.width, *values) for number, values in enumerate(columns)
    )


def _different(groups: IntArray, values: IntArray, n_groups: int) -> list[int]:
    """How many different values each group has."""
    width = int(values.max(initial=0)) + 1
    pairs = np.unique(groups * width + values)
    found: list[int] = np.bincount(pairs // width, minlength=n_groups).tolist()
    return found


def turns(live: IntArray, required: IntArray, is_open: BoolArray, tasks: IntArray) -> list[Turn]:
    """Labels by the turn in which they came: `tasks` tasks have `live` labels and need `required`
    in all, of which none is waited for unless they are open. All are [n]."""
    last = int(max(live.max(initial=0), required[is_open].max(initial=0)))
    return [
        Turn(
            number,
            given=int(tasks[live >= number].sum()),
            wanted=int(tasks[is_open & (live < number) & (number <= required)].sum()),
        )
        for number in range(1, last + 1)
    ]


def forecast(at: IntArray, *, now: int, wanted: int) -> Forecast:
    """From the labels given at the moments `at` [n], when `wanted` more will be there.

    The pace is that of the hours, counted back from now, in which anybody judged; how many of
    the hours are such stays as it was, too. With the mean m and the standard deviation s of n such
    hours, the mean of the k hours to come lies within m ± 1.28 s √(1/n + 1/k) eight times in
    ten, if hours are independent.
    """
    if wanted == 0:
        return Forecast(0, undefined=ALL_THERE)
    ago = now - at
    if len(ago) == 0:
        return Forecast(wanted, undefined=ONLY_BEGUN)
    if ago.min() > STOPPED_AFTER:
        return Forecast(wanted, undefined=STOPPED)
    hours = np.maximum(ago, 0) // HOUR
    counts = np.bincount(hours[hours < LOOK_BACK_HOURS])
    active = np.flatnonzero(counts)[:ACTIVE_HOURS]
    if len(active) < 3:
        return Forecast(wanted, undefined=ONLY_BEGUN)
    rates = counts[active]
    mean, to_come = float(rates.mean()), max(1.0, wanted / float(rates.mean()))
    spread = EIGHT_IN_TEN * float(rates.std(ddof=1)) * (1 / len(rates) + 1 / to_come) ** 0.5
    share_active = len(active) / (int(active[-1]) + 1)

    def end(pace: float) -> int:
        return now + round(wanted / pace / share_active * HOUR)

    slowest = mean - spread
    return Forecast(
        wanted,
        per_hour=mean,
        hours=len(active),
        earliest=end(mean + spread),
        latest=end(slowest) if slowest > mean / 4 else None,
    )
