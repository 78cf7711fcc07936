"""What each annotator of a campaign did, and what of it a lead should look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.people.accuracy import accuracy_intervals
from evaluation.core.people.agreement import AnnotatorAgreement, agreement_by_annotator
from evaluation.core.people.dawid_skene import dawid_skene
from evaluation.core.people.pace import BREAK_MS, TOO_FAST_MS, Answers, hours_at_work, medians

# A person stands out whose share is so far from that of the others, and further than chance
# explains: three standard deviations of a share of as many answers. Gold is little: two must do.
APART: Final = 0.1
DEVIATIONS: Final = 3.0
GOLD_DEVIATIONS: Final = 2.0
GOLD_ANSWERS: Final = 5
# Where the campaign has no bar of its own.
GOLD_BAR: Final = 0.8
TIMED_ANSWERS: Final = 20
FAST_SHARE: Final = 0.05
# The same labels must always give the same interval.
_SEED: Final = 0


class Flag(StrEnum):
    """Why a lead should look at a person's answers."""

    TOO_FAST = "too fast"
    LOW_GOLD = "low gold"
    LOW_AGREEMENT = "low agreement"
    FEW_RELEVANT = "few relevant"
    MANY_RELEVANT = "many relevant"


@dataclass(frozen=True, slots=True)
class PersonFigures:
    """One annotator; `person` is their number among the answers. Shares are left to the reader.

    answers: all that stand: `counted`, of which `relevant` say relevant, `surplus`, and to gold.
    gold: answers to gold that is not retired, of which `right` were right. compared: first labels
    of others on the pairs of their own first labels, of which `equal` are the same; compared_all
    and equal_all: the same of all labels. timed: answers whose time is known, `too_fast` among
    them. hours: at work. seconds: the median of the times, without
    breaks. accuracy: the chance of a right label as Dawid and Skene estimate it, from
    `accuracy_labels` labels; accuracy_low, accuracy_high: its 95 % interval. last_at: the last
    answer, in seconds since 1970.
    """

    person: int
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
    seconds: float | None
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    accuracy_labels: int
    last_at: int


def people_figures(answers: Answers, n_people: int, *, n_labels: int) -> tuple[PersonFigures, ...]:
    """One row for each person, in the order of their numbers; `n_labels`: steps of the scale.

    First labels are compared with first labels. A third label is requested if two differ, so it
    must differ from one of them.
    """
    tasks = _dense(answers.tasks)
    agreed = _agreed(answers, tasks, answers.is_planned, n_people)
    agreed_all = _agreed(answers, tasks, answers.is_counted, n_people)
    accuracy, interval, rests_on = label_accuracy(
        tasks[answers.is_counted],
        answers.people[answers.is_counted],
        answers.labels[answers.is_counted],
        n_people,
        n_labels,
    )
    columns = {
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
        "accuracy_labels": rests_on.tolist(),
        "last_at": _last(answers, n_people).tolist(),
    }
    return tuple(
        PersonFigures(person=person, **{name: column[person] for name, column in columns.items()})
        for person in range(n_people)
    )


def _agreed(
    answers: Answers, tasks: IntArray, which: BoolArray, n_people: int
) -> tuple[AnnotatorAgreement, ...]:
    return agreement_by_annotator(
        tasks[which], answers.people[which], answers.labels[which], n_people
    )


def label_accuracy(
    tasks: IntArray, people: IntArray, labels: IntArray, n_people: int, n_labels: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Estimate the chance of a right label by the model of Dawid and Skene.

    Returns the chances [n_people], their 95 % intervals [n_people, 2], and the number of labels
    they are based on, [n_people]. Undefined chances and intervals are NaN. A pair with one label is
    left out, because it has no information about its annotator.
    """
    shared = np.bincount(tasks)[tasks] > 1
    found, interval = np.full(n_people, np.nan), np.full((n_people, 2), np.nan)
    person = _dense(people[shared])
    estimate = dawid_skene(_dense(tasks[shared]), person, labels[shared], n_labels)
    if estimate.model is not None:
        found[people[shared]] = estimate.model.accuracy[person]
        rng = np.random.default_rng(_SEED)
        interval[people[shared]] = accuracy_intervals(estimate.model, rng=rng)[person]
    return found, interval, np.bincount(people[shared], minlength=n_people)


def flags(rows: Sequence[PersonFigures], *, gold_bar: float = 0.0) -> list[tuple[Flag, ...]]:
    """What stands out in each row, against all the others together.

    gold_bar: the share of gold that the campaign asks for; 0: none, and `GOLD_BAR` is looked at.
    """
    labels, relevant = sum(row.counted for row in rows), sum(row.relevant for row in rows)
    compared, equal = sum(row.compared for row in rows), sum(row.equal for row in rows)
    accuracies = [row.accuracy for row in rows if row.accuracy is not None]
    median = float(np.median(accuracies)) if accuracies else None
    found = []
    for row in rows:
        usual = _Usual(
            relevant=_share(relevant - row.relevant, labels - row.counted),
            equal=_share(equal - row.equal, compared - row.compared),
            accuracy=median,
            gold=gold_bar or GOLD_BAR,
        )
        found.append(tuple(_flags(row, usual)))
    return found


@dataclass(frozen=True, slots=True)
class _Usual:
    """What a person is held against."""

    relevant: float | None
    equal: float | None
    accuracy: float | None
    gold: float


def _flags(row: PersonFigures, usual: _Usual) -> Iterator[Flag]:
    if row.timed >= TIMED_ANSWERS and row.too_fast >= FAST_SHARE * row.timed:
        yield Flag.TOO_FAST
    if row.gold >= GOLD_ANSWERS and _apart(row.right, row.gold, usual.gold, 0, GOLD_DEVIATIONS) < 0:
        yield Flag.LOW_GOLD
    if _apart(row.equal, row.compared, usual.equal) < 0 and _may_err(row, usual):
        yield Flag.LOW_AGREEMENT
    relevant = _apart(row.relevant, row.counted, usual.relevant)
    if relevant:
        yield Flag.FEW_RELEVANT if relevant < 0 else Flag.MANY_RELEVANT


def _may_err(row: PersonFigures, usual: _Usual) -> bool:
    """Whether a low agreement is of their own making. The model may know better: who shares many
    pairs with somebody who answers at random agrees little, and is right."""
    if row.accuracy is None or usual.accuracy is None:
        return True
    return usual.accuracy - row.accuracy >= APART / 2


def _apart(
    part: int,
    whole: int,
    usual: float | None,
    apart: float = APART,
    deviations: float = DEVIATIONS,
) -> float:
    """How far a share is from the usual one, negative below it; 0 where that may be chance."""
    if not whole or usual is None:
        return 0.0
    difference = part / whole - usual
    by_chance = deviations * (usual * (1 - usual) / whole) ** 0.5
    return difference if abs(difference) > max(apart, by_chance) else 0.0


def _dense(numbers: IntArray) -> IntArray:
    """The same numbers as 0, 1, 2 … in their order."""
    return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64, copy=False)


def _counts(answers: Answers, n_people: int) -> dict[str, list[Any]]:
    def count(which: BoolArray) -> list[int]:
        found: list[int] = np.bincount(answers.people[which], minlength=n_people).tolist()
        return found

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


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
