"""The stopping rule of the analysis `history`: when intervals allow judging to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np

from annotation.enums import CampaignKind, CampaignState, Priority, TaskState
from annotation.models import Campaign, JudgmentTask
from evaluation.core.arrays import FloatArray, IntArray, dense_groups
from evaluation.core.pools.history import GroupOrder, order_as_judged, order_at_random
from evaluation.core.statistics import sequential
from evaluation.lab.analyses import options
from evaluation.lab.analyses.inputs import CAPTIONS, VIDEOS, Inputs
from evaluation.lab.analyses.rows import Ends, Shown
from hearth.shared.options import Option
from pooling.selectors.captions import first_equal_captions

# Enough points for a smooth band.
PATH_POINTS = 60


JUDGED, DRAWN = "judged", "drawn"
IMPORTED, PRIORITISED, SHARED = "imported", "prioritised", "shared"
ORDER_WARNINGS = {
    IMPORTED: "Imported judgments are in the order of their file, which may not be random.",
    PRIORITISED: "A campaign assigned the top results of a run first, so its order is not random.",
    SHARED: "Captions with equal texts were judged together, so they are not in random order.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingOptions(options.Resampling):
    """If `order` is empty, it is `JUDGED` if pairs were judged in random order, else `DRAWN`.

    width: Judging can stop when the interval of a score is at most ± this number.
    order: The rule determines when judging can stop. Automatic: the order of judging if it was
        random, otherwise a random order that is drawn with the seed.
    """

    width: Annotated[float, Option("Half-width of the interval (points)", low=0.1, high=50)] = 2
    order: Annotated[
        str,
        Option(
            "Order for the stopping rule",
            choices={
                "": "Automatic",
                JUDGED: "Order of judging",
                DRAWN: "Drawn at random with the seed",
            },
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class StopRow:
    """The first time that a stopping rule is met: units, labels, and share of all labels.

    The three numbers are null if the rule is never met.

    other: the second run of a difference; null for the score of `run`
    interval: the one at that time, or else the last one
    final: the last value
    """

    run: str
    other: str | None
    units: Annotated[int | None, Shown("{stopping_unit} needed", "count")]
    labels: Annotated[int | None, Shown("Labels needed", "count")]
    share: Annotated[float | None, Shown("Share of all labels, %", "percent")]
    interval: Annotated[Ends, Shown("Interval at the stop, %", "percent")]
    final: Annotated[float, Shown("Final score, %", "percent")]

    @property
    def what(self) -> Annotated[str, Shown("Run")]:
        return self.run if self.other is None else f"{self.run} − {self.other}"


@dataclass(frozen=True, slots=True)
class DifferenceStopRow(StopRow):
    """How the table of differences shows a row."""

    interval: Annotated[Ends, Shown("Interval at the stop, points", "points")]
    final: Annotated[float, Shown("Final difference, points", "points")]

    @property
    def what(self) -> Annotated[str, Shown("Difference")]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PathRow:
    """The estimate of a run's score after a number of labels, with its interval."""

    labels: int
    run: str
    score: float
    interval: Ends


@dataclass(frozen=True, slots=True)
class Stopping:
    """The stopping rule, for an order of the units (`JUDGED` or `DRAWN`).

    doubts: reasons why the units may not have been judged in random order
    width: half-width of an interval at which judging can stop, in points
    units: number of units with pairs to judge
    seen: number of these that are used
    labels: number of all answers
    """

    unit: str
    order: str
    doubts: list[str]
    width: float
    units: int
    seen: int
    labels: int
    rows: list[StopRow]
    path: list[PathRow]


@dataclass(frozen=True, slots=True, eq=False)
class ArrivedLabels:
    """The labels of all captions in the order in which the answers arrived, [L].

    codes: int64 [n_pairs], ascending. pair_of: index into `codes`. relevant: 0 or 1. answer_of:
    number of the answer, ascending from 0. An answer for equal captions has a label for each of
    them.
    """

    codes: IntArray
    pair_of: IntArray
    relevant: IntArray
    answer_of: IntArray

    @property
    def answers(self) -> int:
        return int(self.answer_of[-1]) + 1 if len(self.answer_of) else 0


def arrived_labels(inputs: Inputs) -> ArrivedLabels:
    """Return the labels of all judgments that count, repeated for equal captions."""
    labels = inputs.judgments_by_caption
    order = np.argsort(labels.ids, kind="stable")
    return ArrivedLabels(
        labels.codes,
        labels.pair_of[order],
        (labels.labels[order] >= 1).astype(np.int64),
        np.cumsum(np.diff(labels.ids[order], prepend=labels.ids[order][:1]) != 0),
    )


def stopping_rule(
    inputs: Inputs, options: StoppingOptions, values: dict[str, FloatArray], labels: ArrivedLabels
) -> Stopping:
    """Return the number of labels at which judging could stop, for each score and difference.

    values: the final value of each query by run, float64 [n_queries]. labels: the result of
    `arrived_labels`.
    """
    clusters = inputs.clusters(options.unit)
    n_queries = inputs.benchmark.n_queries
    unit_of_query = np.arange(n_queries) if clusters is None else dense_groups(clusters, n_queries)
    reasons = _order_warnings(inputs)
    order = options.order or (DRAWN if reasons else JUDGED)
    found = _ordered(inputs, options, order, unit_of_query, labels)
    sequences = StoppingSequences(values, unit_of_query, found, options)
    return Stopping(
        unit=CAPTIONS if clusters is None else VIDEOS,
        order=order,
        doubts=reasons,
        width=options.width,
        units=len(found.groups),
        seen=found.seen,
        labels=labels.answers,
        rows=sequences.rows(labels.answers),
        path=sequences.path(),
    )


def _order_warnings(inputs: Inputs) -> list[str]:
    """Return the reasons why captions may not have been judged in random order."""
    campaigns = Campaign.objects.filter(pk__in=np.unique(inputs.judgments.campaigns).tolist())
    reasons = []
    if any(campaign.is_imported for campaign in campaigns):
        reasons.append(IMPORTED)
    if any(campaign.priority != Priority.NONE for campaign in campaigns):
        reasons.append(PRIORITISED)
    if len(inputs.judgments_by_caption.ids) > len(inputs.judgments.ids):
        reasons.append(SHARED)
    return reasons


def _ordered(
    inputs: Inputs,
    options: StoppingOptions,
    order: str,
    unit_of_query: IntArray,
    labels: ArrivedLabels,
) -> GroupOrder:
    """Return the order of the units. Its field `labels` has numbers of answers, not of labels."""
    unit_of = unit_of_query[inputs.benchmark.pair_space.queries(labels.codes)]
    waiting = np.zeros(int(unit_of_query.max(initial=-1)) + 1, dtype=np.bool_)
    waiting[unit_of_query[_waiting_queries(inputs)]] = True
    if order == JUDGED:
        found = order_as_judged(labels.pair_of, unit_of, waiting)
        return replace(found, labels=labels.answer_of[found.labels - 1] + 1)
    rng = np.random.default_rng(options.seed)
    return order_at_random(labels.pair_of, unit_of, waiting, rng, labels.answer_of)


def _waiting_queries(inputs: Inputs) -> IntArray:
    """Return the numbers of the captions for which a campaign still collects labels.

    If a task is shared, captions with an equal text are included.
    """
    tasks = JudgmentTask.objects.filter(
        campaign__benchmark=inputs.benchmark,
        campaign__kind=CampaignKind.JUDGING,
        pair__isnull=False,
        state__in=(TaskState.OPEN, TaskState.ESCALATED),
    ).exclude(campaign__state=CampaignState.CLOSED)
    numbers = tasks.order_by().values_list("pair__query__number", flat=True).distinct()
    own = np.fromiter(numbers.filter(unit=None), np.int64)
    shared = np.fromiter(numbers.exclude(unit=None), np.int64)
    if not len(shared):
        return own
    equal = first_equal_captions(inputs.benchmark)
    return np.union1d(own, np.flatnonzero(np.isin(equal, equal[shared])))


class StoppingSequences:
    """The confidence sequences of all scores and of all differences.

    The error rate, 1 - confidence, is divided equally among the sequences. The probability that any
    of them fails is therefore at most the error rate.
    """

    def __init__(
        self,
        values: dict[str, FloatArray],
        unit_of_query: IntArray,
        order: GroupOrder,
        options: StoppingOptions,
    ) -> None:
        self._order, self._width = order, options.width / 100
        self._values = values
        self._sums = {
            run: np.bincount(unit_of_query, weights=own)[order.groups]
            for run, own in values.items()
        }
        self._sizes = np.bincount(unit_of_query)[order.groups]
        self._n_queries = len(unit_of_query)
        self._pairs = list(combinations(values, 2))
        self._alpha = (1 - options.confidence) / max(1, len(values) + len(self._pairs))
        self._scores = {run: self._sequence(run) for run in values} if order.seen else {}

    def _sequence(self, run: str, other: str | None = None) -> sequential.ConfidenceSequence:
        """Return the confidence sequence of a run's score, or of its difference from `other`.

        Scores are over all captions. The values of captions without any pair to judge are already
        known.
        """
        settings = {
            "seen": self._order.seen,
            "alpha": self._alpha,
            "aim": min(1.0, self._width * self._n_queries / self._sizes.sum()),
        }
        sums, final = self._sums[run], self._values[run]
        if other is None:
            found = sequential.confidence_sequence(sums, self._sizes, **settings)
            known = final.sum() - sums.sum()
        else:
            found = sequential.difference_sequence(sums, self._sums[other], self._sizes, **settings)
            known = (final - self._values[other]).sum() - (sums - self._sums[other]).sum()
        share = self._sizes.sum() / self._n_queries
        return found.moved(known / self._n_queries, share)

    def rows(self, n_labels: int) -> list[StopRow]:
        if not self._scores:
            return []
        found: list[StopRow] = []
        for run, sequence in self._scores.items():
            stop = sequential.first_stop(sequence.half_width <= self._width)
            found.append(self._row(run, None, sequence, stop, n_labels))
        for run, other in self._pairs:
            sequence = self._sequence(run, other)
            stop = sequential.first_stop(sequence.excludes(0))
            found.append(self._row(run, other, sequence, stop, n_labels))
        return found

    def _row(
        self,
        run: str,
        other: str | None,
        sequence: sequential.ConfidenceSequence,
        stop: int | None,
        n_labels: int,
    ) -> StopRow:
        """Return one row. Its interval is that at the stop, or the last one if there is no stop."""
        at = (stop or self._order.seen) - 1
        labels = int(self._order.labels[at]) if stop else None
        final = self._values[run] if other is None else self._values[run] - self._values[other]
        return StopRow(
            run,
            other,
            stop,
            labels,
            None if labels is None else labels / n_labels,
            [float(sequence.low[at]), float(sequence.high[at])],
            float(final.mean()),
        )

    def path(self) -> list[PathRow]:
        """Return `PATH_POINTS` points of each run's band, evenly spread over the units."""
        places = np.unique(np.linspace(0, self._order.seen - 1, PATH_POINTS).astype(np.int64))
        return [
            PathRow(
                int(self._order.labels[at]),
                run,
                float(sequence.estimate[at]),
                [float(sequence.low[at]), float(sequence.high[at])],
            )
            for run, sequence in self._scores.items()
            for at in places.tolist()
        ]
