"""Confidence sequences of scores and differences, and when they allow judging to stop."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.pools.history import GroupOrder
from evaluation.core.statistics.sequential import (
    ConfidenceSequence,
    confidence_sequence,
    difference_sequence,
    first_stop,
)
from evaluation.lab.analyses.layouts.history import PathRow, StopRow

# Enough points for a smooth band.
PATH_POINTS = 60


class StoppingSequences:
    """The confidence sequences of all scores and of all differences.

    The error rate is divided equally among the sequences. It is therefore the largest probability
    that any of them fails.
    """

    def __init__(
        self,
        values: dict[str, FloatArray],
        unit_of_query: IntArray,
        order: GroupOrder,
        options: dict[str, Any],
    ) -> None:
        self._order, self._width = order, options["width"] / 100
        self._values = values
        self._sums = {
            run: np.bincount(unit_of_query, weights=own)[order.groups]
            for run, own in values.items()
        }
        self._sizes = np.bincount(unit_of_query)[order.groups]
        self._n_queries = len(unit_of_query)
        self._pairs = list(combinations(values, 2))
        self._alpha = (1 - options["confidence"]) / max(1, len(values) + len(self._pairs))
        self._scores = {run: self._sequence(run) for run in values} if order.seen else {}

    def _sequence(self, run: str, other: str | None = None) -> ConfidenceSequence:
        """Return the sequence of a run's score over all captions, or of its difference to `other`.

        Captions without any pair to judge are already known.
        """
        settings = {
            "seen": self._order.seen,
            "alpha": self._alpha,
            "aim": min(1.0, self._width * self._n_queries / self._sizes.sum()),
        }
        sums, final = self._sums[run], self._values[run]
        if other is None:
            found = confidence_sequence(sums, self._sizes, **settings)
            known = final.sum() - sums.sum()
        else:
            found = difference_sequence(sums, self._sums[other], self._sizes, **settings)
            known = (final - self._values[other]).sum() - (sums - self._sums[other]).sum()
        share = self._sizes.sum() / self._n_queries
        return found.moved(known / self._n_queries, share)

    def rows(self, n_labels: int) -> list[StopRow]:
        if not self._scores:
            return []
        found: list[StopRow] = []
        for run, sequence in self._scores.items():
            stop = first_stop(sequence.half_width <= self._width)
            found.append(self._row(run, None, sequence, stop, n_labels))
        for run, other in self._pairs:
            sequence = self._sequence(run, other)
            stop = first_stop(sequence.excludes(0))
            found.append(self._row(run, other, sequence, stop, n_labels))
        return found

    def _row(
        self,
        run: str,
        other: str | None,
        sequence: ConfidenceSequence,
        stop: int | None,
        n_labels: int,
    ) -> StopRow:
        """Return one row. Its interval is that at the stop, or the last one if there is no stop."""
        at = (stop or self._order.seen) - 1
        labels = int(self._order.labels[at]) if stop else None
        final = self._values[run] if other is None else self._values[run] - self._values[other]
        return {
            "run": run,
            "other": other,
            "units": stop,
            "labels": labels,
            "share": None if labels is None else labels / n_labels,
            "interval": [float(sequence.low[at]), float(sequence.high[at])],
            "final": float(final.mean()),
        }

    def path(self) -> list[PathRow]:
        """Return `PATH_POINTS` points of each run's band, evenly spread over the units."""
        places = np.unique(np.linspace(0, self._order.seen - 1, PATH_POINTS).astype(np.int64))
        return [
            {
                "labels": int(self._order.labels[at]),
                "run": run,
                "score": float(sequence.estimate[at]),
                "interval": [float(sequence.low[at]), float(sequence.high[at])],
            }
            for run, sequence in self._scores.items()
            for at in places.tolist()
        ]
