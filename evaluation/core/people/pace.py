"""Speed of judging as JSON: answer times, answers per period, and a forecast of the end.

The time of an answer is the time from showing a pair to its answer, in whole milliseconds. It is
negative if it is unknown. Points in time are whole seconds since 1970 (UTC).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypedDict, cast

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray

# A longer time counts as a break.
BREAK_MS: Final = 120_000
# An annotator cannot watch a video in less time.
TOO_FAST_MS: Final = 700

HOUR: Final = 3600
DAY: Final = 24 * HOUR
WEEK: Final = 7 * DAY
# The first Monday of 1970, because 1 January 1970 was a Thursday.
MONDAY: Final = 4 * DAY
# A chart shows at most this number of periods, so that its bars can be distinguished.
PERIODS_MAX: Final = 60
# A chart and a table have at most this number of periods, even if a wrong date is millennia away.
BINS_MAX: Final = 400

# The forecast uses the last 24 hours with answers, from the last two weeks.
ACTIVE_HOURS: Final = 24
RECENT_HOURS: Final = 14 * 24
STOPPED_AFTER: Final = 2 * DAY
# With probability 0.8, a normal variable lies within this number of standard deviations.
EIGHT_IN_TEN: Final = 1.2816

NOT_TIMED: Final = "no times are known"
ALL_THERE: Final = "no labels are missing"
STOPPED: Final = "no answers for two days"
ONLY_BEGUN: Final = "judging has only begun"


class Times(TypedDict):
    """Times of answers.

    known, unknown: number of answers with and without a time. breaks: number of times above
    `BREAK_MS`. too_fast: number of times below `TOO_FAST_MS`. quantiles: the 25 %, 50 %, 75 % and
    90 % quantiles in seconds, without breaks; None if there are no such times.
    """

    known: int
    unknown: int
    breaks: int
    too_fast: int
    quantiles: list[float] | None


class Timeline(TypedDict):
    """A sequence of `count` periods of `width` seconds each. The first begins at `start`."""

    start: int
    width: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The current answers of a campaign, one row per answer; all arrays are [n].

    Current answers are neither corrected nor withdrawn.

    people: int64, numbers of annotators from 0 without gaps. tasks: int64, any identifier of the
    task. labels: int64, steps of the campaign's scale. is_relevant: bool. is_counted: bool, whether
    the answer is a label of a pair; False for surplus answers and answers to gold items.
    is_planned: bool, whether it is counted and one of the planned labels. is_gold: bool.
    gold: int64, 1 for a correct answer to a gold item, 0 for a wrong one, -1 for other answers and
    for retired gold items. ms: int64, time of the answer in milliseconds, negative if unknown. at:
    int64, when the answer was submitted, in seconds since 1970.
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


class Period(TypedDict):
    """Numbers of one period of time.

    start: when the period begins, in seconds since 1970. answers: number of current answers.
    counted: number of these that are labels of pairs. relevant: number of these labels that are
    relevant. gold, right: number of answers to gold items, and number of correct ones. people:
    number of annotators with an answer. seconds: median time of an answer without breaks; None if
    no time is known.
    """

    start: int
    answers: int
    counted: int
    relevant: int
    gold: int
    right: int
    people: int
    seconds: float | None


class LabelRound(TypedDict):
    """The first labels of all tasks, or the second labels, and so on.

    number: 1 for the first labels, 2 for the second labels, and so on. given: number of labels that
    exist. wanted: number of labels that are missing.
    """

    number: int
    given: int
    wanted: int


class Forecast(TypedDict):
    """When the last label is expected at the current speed, or the reason why this is undefined.

    wanted: number of missing labels. per_hour: labels per hour, as a mean over `hours` hours with
    answers. earliest, latest: the end lies between these points in time with probability 0.8.
    `latest` is None if the speed varies too much.
    """

    wanted: int
    per_hour: float | None
    hours: int
    earliest: int | None
    latest: int | None
    undefined: str | None


def answer_times(ms: IntArray) -> Times:
    """Return counts and quantiles of answer times. ms: int64 [n], negative if unknown."""
    known = ms[ms >= 0]
    worked = known[known <= BREAK_MS]
    return Times(
        known=len(known),
        unknown=len(ms) - len(known),
        breaks=len(known) - len(worked),
        too_fast=int((known < TOO_FAST_MS).sum()),
        quantiles=_quantiles(worked) if len(worked) else None,
    )


def _quantiles(ms: IntArray) -> list[float]:
    quantiles: list[float] = (np.quantile(ms, [0.25, 0.5, 0.75, 0.9]) / 1000).tolist()
    return quantiles


def hours_at_work(answers: Answers, n_people: int) -> FloatArray:
    """Return how long each annotator judged, in hours, float64 [n_people].

    An answer adds the time since the annotator's previous answer, or its own time if that is longer
    because several answers arrived together. More than two minutes count as two minutes.
    """
    order = np.lexsort((answers.at, answers.people))
    people, at = answers.people[order], answers.at[order]
    gap = np.diff(at, prepend=0) * 1000
    gap[np.diff(people, prepend=-1) != 0] = 0
    spent = np.minimum(np.maximum(gap, answers.ms[order]), BREAK_MS)
    spent = np.maximum(spent, 0)
    return np.bincount(people, weights=spent, minlength=n_people) / 1000 / HOUR


def medians(groups: IntArray, values: IntArray, n_groups: int) -> FloatArray:
    """Return the median of each group's values, float64 [n_groups], NaN for groups without values.

    groups: int64 [n], from 0 to n_groups - 1. values: int64 [n].
    """
    order = np.lexsort((values, groups))
    ordered = values[order].astype(np.float64)
    sizes = np.bincount(groups, minlength=n_groups)
    firsts = np.cumsum(sizes) - sizes
    result = np.full(n_groups, np.nan)
    some = sizes > 0
    low = firsts[some] + (sizes[some] - 1) // 2
    high = firsts[some] + sizes[some] // 2
    result[some] = (ordered[low] + ordered[high]) / 2
    return result


def timeline_of(at: IntArray) -> Timeline | None:
    """Divide the time from the first to the last answer into hours, days, weeks or four weeks each.

    at: int64 [n], points in time. The result has the shortest of these periods that gives at most
    `PERIODS_MAX` periods. If there is none, the periods have the smallest multiple of four weeks
    that gives at most `BINS_MAX` periods. Returns None if there are no answers.
    """
    if len(at) == 0:
        return None
    first, last = int(at.min()), int(at.max())
    timelines = [_covering(first, last, width) for width in (HOUR, DAY, WEEK)]
    # A multiple of four weeks may cover the time in BINS_MAX - 1 periods that do not begin with it.
    multiple = 1 + (last - first) // (4 * WEEK * (BINS_MAX - 1))
    longest = _covering(first, last, 4 * WEEK * multiple)
    return next((timeline for timeline in timelines if timeline["count"] <= PERIODS_MAX), longest)


def _covering(first: int, last: int, width: int) -> Timeline:
    """Return the timeline from `first` to `last`. Days begin at midnight UTC, weeks on Monday."""
    origin = MONDAY if width >= WEEK else 0
    start = (first - origin) // width * width + origin
    return Timeline(start=start, width=width, count=(last - start) // width + 1)


def over_time(answers: Answers, timeline: Timeline) -> list[Period]:
    """Return one row for each period of the timeline, including periods without answers."""
    start, width, n_periods = timeline["start"], timeline["width"], timeline["count"]
    place = (answers.at - start) // width

    def count(selected: BoolArray) -> list[int]:
        counts: list[int] = np.bincount(place[selected], minlength=n_periods).tolist()
        return counts

    timed = (answers.ms >= 0) & (answers.ms <= BREAK_MS)
    seconds = medians(place[timed], answers.ms[timed], n_periods) / 1000
    columns = {
        "start": [start + number * width for number in range(n_periods)],
        "answers": count(np.ones(len(answers), dtype=np.bool_)),
        "counted": count(answers.is_counted),
        "relevant": count(answers.is_counted & answers.is_relevant),
        "gold": count(answers.gold >= 0),
        "right": count(answers.gold == 1),
        "people": _count_distinct(place, answers.people, n_periods),
        "seconds": [None if np.isnan(value) else value for value in seconds.tolist()],
    }
    return [
        cast(Period, dict(zip(columns, values, strict=True)))
        for values in zip(*columns.values(), strict=True)
    ]


def _count_distinct(groups: IntArray, values: IntArray, n_groups: int) -> list[int]:
    """Return the number of different values of each group."""
    width = int(values.max(initial=0)) + 1
    pairs = np.unique(groups * width + values)
    counts: list[int] = np.bincount(pairs // width, minlength=n_groups).tolist()
    return counts


def label_rounds(
    live: IntArray, required: IntArray, is_open: BoolArray, tasks: IntArray
) -> list[LabelRound]:
    """Count the existing and the missing labels of each round.

    Each row describes a group of tasks. live, required: int64 [n], the number of counted labels of
    each task, and the number it needs. is_open: bool [n]; only open tasks have missing labels.
    tasks: int64 [n], the number of tasks.
    """
    last = int(max(live.max(initial=0), required[is_open].max(initial=0)))
    return [
        LabelRound(
            number=number,
            given=int(tasks[live >= number].sum()),
            wanted=int(tasks[is_open & (live < number) & (number <= required)].sum()),
        )
        for number in range(1, last + 1)
    ]


def forecast(at: IntArray, *, now: int, labels_needed: int) -> Forecast:
    """Predict when the missing labels will exist.

    at: int64 [n], when each existing label was submitted. now: the current time. labels_needed:
    number of missing labels.

    The forecast uses the hours before now that have answers. It assumes that the speed in such
    hours, and their share of all hours, stay the same. Let m be the mean and s the standard
    deviation of the labels in n such hours. If hours are independent, the mean of the next k hours
    lies within m ± 1.28 s √(1/n + 1/k) with probability 0.8. The forecast is undefined if no labels
    are missing, if fewer than three hours have answers, or if the last answer is older than two
    days.
    """
    if labels_needed == 0:
        return _undefined(0, ALL_THERE)
    ago = now - at
    if len(ago) == 0:
        return _undefined(labels_needed, ONLY_BEGUN)
    if ago.min() > STOPPED_AFTER:
        return _undefined(labels_needed, STOPPED)
    hours = np.maximum(ago, 0) // HOUR
    counts = np.bincount(hours[hours < RECENT_HOURS])
    active = np.flatnonzero(counts)[:ACTIVE_HOURS]
    if len(active) < 3:
        return _undefined(labels_needed, ONLY_BEGUN)
    rates = counts[active]
    mean, next_hours = float(rates.mean()), max(1.0, labels_needed / float(rates.mean()))
    spread = EIGHT_IN_TEN * float(rates.std(ddof=1)) * (1 / len(rates) + 1 / next_hours) ** 0.5
    share_active = len(active) / (int(active[-1]) + 1)

    def end(per_hour: float) -> int:
        return now + round(labels_needed / per_hour / share_active * HOUR)

    slowest = mean - spread
    return Forecast(
        wanted=labels_needed,
        per_hour=mean,
        hours=len(active),
        earliest=end(mean + spread),
        latest=end(slowest) if slowest > mean / 4 else None,
        undefined=None,
    )


def _undefined(labels_needed: int, reason: str) -> Forecast:
    return Forecast(
        wanted=labels_needed, per_hour=None, hours=0, earliest=None, latest=None, undefined=reason
    )
