"""Figures of each annotator of a campaign, and flags for annotators whom a lead should review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypedDict, cast

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray, renumber
from evaluation.core.people.accuracy import accuracy_intervals
from evaluation.core.people.agreement import (
    NO_LABELS,
    NOTHING_SHARED,
    AnnotatorAgreement,
    agreement_by_annotator,
    share_of,
)
from evaluation.core.people.dawid_skene import dawid_skene
from evaluation.core.people.pace import BREAK_MS, TOO_FAST_MS, Answers, hours_at_work, medians

# A share is flagged if it differs from that of the other annotators by more than 0.1, and by more
# than three standard deviations. The standard deviation is that of a binomial share with the same
# denominator. The share of correct answers to gold items is compared with the required accuracy.
# There are few of these answers, so two standard deviations are enough for a flag.
MIN_DIFFERENCE: Final = 0.1
DEVIATIONS: Final = 3.0
GOLD_DEVIATIONS: Final = 2.0
GOLD_ANSWERS: Final = 5
# The accuracy below which annotators are flagged in campaigns without an accuracy requirement.
MIN_ACCURACY: Final = 0.8
TIMED_ANSWERS: Final = 20
FAST_SHARE: Final = 0.05
# The same labels must always give the same interval.
_SEED: Final = 0


class Flag(StrEnum):
    """The reason why a lead should review an annotator's answers."""

    TOO_FAST = "too fast"
    LOW_GOLD = "low gold"
    LOW_AGREEMENT = "low agreement"
    FEW_RELEVANT = "few relevant"
    MANY_RELEVANT = "many relevant"


class PersonCounts(TypedDict):
    """Counts of an annotator's answers. They can be added over annotators.

    answers: number of current answers. counted: number of these that are labels of pairs. relevant:
    number of these labels that are relevant. surplus: number of surplus answers. gold, right:
    number of answers to gold items that are not retired, and number of correct ones. compared:
    number of planned labels of other annotators on the pairs of the annotator's own planned labels.
    equal: number of these that equal the annotator's own label. compared_all, equal_all: the same
    for all labels instead of planned labels. timed: number of answers with a time. too_fast: number
    of these below `TOO_FAST_MS`. hours: time spent judging.
    """

    answers: int
    counted: int
    relevant: int
    surplus: int
    gold: int
    right: int
    compared: int
    equal: int
    compared_all: int
    equal_all: int
    timed: int
    too_fast: int
    hours: float


class PersonFigures(PersonCounts):
    """Numbers of one annotator, as JSON.

    seconds: median time of an answer, without breaks. accuracy: probability of a correct label by
    the model of Dawid and Skene, estimated from `accuracy_labels` labels. accuracy_low,
    accuracy_high: its 95 % interval. last_at: time of the last answer, in seconds since 1970.
    """

    seconds: float | None
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    accuracy_labels: int
    last_at: int


def people_figures(answers: Answers, n_people: int, *, n_steps: int) -> tuple[PersonFigures, ...]:
    """Return one row for each annotator, in the order of their numbers.

    n_steps: number of steps of the scale.
    """
    tasks = renumber(answers.tasks)
    agreed = _agreed(answers, tasks, answers.is_planned, n_people)
    agreed_all = _agreed(answers, tasks, answers.is_counted, n_people)
    accuracy, interval, n_used = label_accuracy(
        tasks[answers.is_counted],
        answers.people[answers.is_counted],
        answers.labels[answers.is_counted],
        n_people,
        n_steps,
    )
    columns: dict[str, Sequence[float | None]] = {
        **_counts(answers, n_people),
        "compared": [row.compared for row in agreed],
        "equal": [_part(row.agreement.value, row.compared) for row in agreed],
        "compared_all": [row.compared for row in agreed_all],
        "equal_all": [_part(row.agreement.value, row.compared) for row in agreed_all],
        "hours": hours_at_work(answers, n_people).tolist(),
        "seconds": _numbers(_median_seconds(answers, n_people)),
        "accuracy": _numbers(accuracy),
        "accuracy_low": _numbers(interval[:, 0]),
        "accuracy_high": _numbers(interval[:, 1]),
        "accuracy_labels": n_used.tolist(),
        "last_at": _last(answers, n_people).tolist(),
    }
    return tuple(
        cast(PersonFigures, {name: columns[name][person] for name in PersonFigures.__annotations__})
        for person in range(n_people)
    )


def _agreed(
    answers: Answers, tasks: IntArray, selected: BoolArray, n_people: int
) -> tuple[AnnotatorAgreement, ...]:
    """Return the agreement of each annotator on the selected answers."""
    return agreement_by_annotator(
        tasks[selected], answers.people[selected], answers.labels[selected], n_people
    )


def label_accuracy(
    tasks: IntArray, people: IntArray, labels: IntArray, n_people: int, n_steps: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Estimate the probability of a correct label by the model of Dawid and Skene.

    tasks: int64 [L], from 0 without gaps. people: int64 [L], from 0 to n_people - 1. labels: int64
    [L], from 0 to n_steps - 1. Returns the probabilities [n_people], their 95 % intervals
    [n_people, 2], and the number of labels used [n_people]. Undefined probabilities and intervals
    are NaN. Tasks with one label are ignored, because they contain no information about their
    annotator.
    """
    shared = np.bincount(tasks)[tasks] > 1
    accuracy, interval = np.full(n_people, np.nan), np.full((n_people, 2), np.nan)
    person = renumber(people[shared])
    estimate = dawid_skene(renumber(tasks[shared]), person, labels[shared], n_steps)
    if estimate.model is not None:
        accuracy[people[shared]] = estimate.model.accuracy[person]
        rng = np.random.default_rng(_SEED)
        interval[people[shared]] = accuracy_intervals(estimate.model, rng=rng)[person]
    return accuracy, interval, np.bincount(people[shared], minlength=n_people)


def flags(rows: Sequence[PersonFigures], *, min_accuracy: float = 0.0) -> list[tuple[Flag, ...]]:
    """Return the flags of each annotator.

    Shares of relevant labels and of equal labels are compared with those of all other annotators
    together.

    min_accuracy: share of correct answers to gold items that the campaign requires, 0 to 1. If it
    is 0, the campaign requires none, and `MIN_ACCURACY` is used.
    """
    labels, relevant = sum(row["counted"] for row in rows), sum(row["relevant"] for row in rows)
    compared, equal = sum(row["compared"] for row in rows), sum(row["equal"] for row in rows)
    accuracies = [row["accuracy"] for row in rows if row["accuracy"] is not None]
    median = float(np.median(accuracies)) if accuracies else None
    all_flags = []
    for row in rows:
        usual = _Usual(
            relevant=share_of(relevant - row["relevant"], labels - row["counted"], NO_LABELS).value,
            equal=share_of(equal - row["equal"], compared - row["compared"], NOTHING_SHARED).value,
            accuracy=median,
            gold=min_accuracy or MIN_ACCURACY,
        )
        all_flags.append(tuple(_flags(row, usual)))
    return all_flags


@dataclass(frozen=True, slots=True)
class _Usual:
    """The shares with which an annotator is compared.

    relevant, equal: shares of all other annotators together. accuracy: median of all annotators.
    gold: minimum share of correct answers to gold items.
    """

    relevant: float | None
    equal: float | None
    accuracy: float | None
    gold: float


def _flags(row: PersonFigures, usual: _Usual) -> Iterator[Flag]:
    if row["timed"] >= TIMED_ANSWERS and row["too_fast"] >= FAST_SHARE * row["timed"]:
        yield Flag.TOO_FAST
    gold = _difference(row["right"], row["gold"], usual.gold, 0, GOLD_DEVIATIONS)
    if row["gold"] >= GOLD_ANSWERS and gold < 0:
        yield Flag.LOW_GOLD
    equal = _difference(row["equal"], row["compared"], usual.equal)
    if equal < 0 and _is_less_accurate(row, usual):
        yield Flag.LOW_AGREEMENT
    relevant = _difference(row["relevant"], row["counted"], usual.relevant)
    if relevant:
        yield Flag.FEW_RELEVANT if relevant < 0 else Flag.MANY_RELEVANT


def _is_less_accurate(row: PersonFigures, usual: _Usual) -> bool:
    """Return whether the model confirms that low agreement is the annotator's own error.

    An accurate annotator who shares many pairs with an annotator who answers at random has low
    agreement, too, but a normal accuracy. If the model is undefined, return True.
    """
    if row["accuracy"] is None or usual.accuracy is None:
        return True
    return usual.accuracy - row["accuracy"] >= MIN_DIFFERENCE / 2


def _difference(
    part: int,
    whole: int,
    usual: float | None,
    min_difference: float = MIN_DIFFERENCE,
    deviations: float = DEVIATIONS,
) -> float:
    """Return part / whole - usual, or 0 if the difference is small or explained by chance."""
    if not whole or usual is None:
        return 0.0
    difference = part / whole - usual
    by_chance = deviations * (usual * (1 - usual) / whole) ** 0.5
    return difference if abs(difference) > max(min_difference, by_chance) else 0.0


def _counts(answers: Answers, n_people: int) -> dict[str, list[int]]:
    """Return the columns of `PersonFigures` that count answers, [n_people] each."""

    def count(selected: BoolArray) -> list[int]:
        counts: list[int] = np.bincount(answers.people[selected], minlength=n_people).tolist()
        return counts

    return {
        "answers": count(np.ones(len(answers), np.bool_)),
        "counted": count(answers.is_counted),
        "relevant": count(answers.is_counted & answers.is_relevant),
        "surplus": count(~answers.is_counted & ~answers.is_gold),
        "gold": count(answers.gold >= 0),
        "right": count(answers.gold == 1),
        "timed": count(answers.ms >= 0),
        "too_fast": count((answers.ms >= 0) & (answers.ms < TOO_FAST_MS)),
    }


def _median_seconds(answers: Answers, n_people: int) -> FloatArray:
    worked = (answers.ms >= 0) & (answers.ms <= BREAK_MS)
    return medians(answers.people[worked], answers.ms[worked], n_people) / 1000


def _last(answers: Answers, n_people: int) -> IntArray:
    last = np.zeros(n_people, np.int64)
    np.maximum.at(last, answers.people, answers.at)
    return last


def _numbers(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _part(share: float | None, whole: int) -> int:
    return 0 if share is None else round(share * whole)
