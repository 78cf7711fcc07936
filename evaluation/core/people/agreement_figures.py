"""All figures of agreement, for the first labels of each pair and for all labels.

A third label is requested only if the first two differ. In figures of all labels, pairs that differ
therefore count more, and their third label must agree with one of the first two. Figures of the
planned labels do not have this bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.people.agreement import (
    Estimate,
    ValueCounts,
    count_labels,
    pairwise_agreement,
    percent_agreement,
)
from evaluation.core.people.alpha import Interval, Level, alpha_interval, krippendorff_alpha
from evaluation.core.people.annotator_resampling import annotator_interval, label_pairs
from evaluation.core.people.chance_agreement import gwet_ac, gwet_interval

RESAMPLES: Final = 1000
CONFIDENCE: Final = 0.95
# The same labels must always give the same interval.
SEED: Final = 0

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resampling:
    """The settings by which intervals are drawn."""

    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    seed: int = SEED

    def rng(self) -> np.random.Generator:
        """Return a new generator for each interval, so that no interval depends on the others."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """Labels with their annotators and pairs, int64 [n]; an annotator has labelled each pair once.

    pairs, annotators: dense numbers from 0, or with gaps. is_first: bool [n].
    """

    pairs: IntArray
    annotators: IntArray
    labels: IntArray
    is_first: BoolArray

    def only(self, which: BoolArray) -> Opinions:
        return Opinions(
            self.pairs[which], self.annotators[which], self.labels[which], self.is_first[which]
        )

    @property
    def first(self) -> Opinions:
        return self.only(self.is_first)

    @property
    def counts(self) -> ValueCounts:
        n_pairs = int(self.pairs.max(initial=-1)) + 1
        return count_labels(self.pairs, self.labels, n_pairs)


def figures_of(counts: ValueCounts, n_grades: int, how: Resampling) -> Figures:
    """Return the figures of some labels as a JSON object; pairs are resampled for intervals.

    n_grades: steps of the scale. `alpha` is nominal on a scale of two and ordinal on a longer
    scale. A longer scale also has `alpha_nominal`, AC2 and figures of relevance (0, or more).
    `undefined` holds the reason for each figure that is null.
    """
    level: Level = "ordinal" if n_grades > 2 else "nominal"
    found = {
        "agreement": percent_agreement(counts),
        "pairwise_agreement": pairwise_agreement(counts),
        **_alphas("alpha", counts, level, how),
        **_gwet("ac1", counts, n_grades, how, ordinal=False),
    }
    if n_grades > 2:
        relevance = as_relevance(counts)
        found |= {
            **_alphas("alpha_nominal", counts, "nominal", how),
            **_gwet("ac2", counts, n_grades, how, ordinal=True),
            "relevance_agreement": percent_agreement(relevance),
            "relevance_alpha": krippendorff_alpha(relevance),
        }
    return {
        "labels": counts.n_labels,
        "multiply_labelled": counts.n_multiply_labelled,
        "alpha_level": level,
        **as_json(found),
    }


def figures_of_both(opinions: Opinions, n_grades: int, how: Resampling) -> dict[str, Figures]:
    """Return the figures of the `first_labels` and of `all_labels`.

    The figures of the first labels include the interval of alpha with annotators resampled.
    """
    first = opinions.first
    figures, annotators = figures_of(first.counts, n_grades, how), _by_people(first, n_grades, how)
    undefined = figures["undefined"] | annotators["undefined"]
    return {
        "first_labels": {**figures, **annotators, "undefined": undefined},
        "all_labels": figures_of(opinions.counts, n_grades, how),
    }


def _by_people(first: Opinions, n_grades: int, how: Resampling) -> Figures:
    pairs = label_pairs(first.pairs, first.annotators, first.labels)
    level: Level = "ordinal" if n_grades > 2 else "nominal"
    interval = annotator_interval(
        pairs, how.resamples, rng=how.rng(), confidence=how.confidence, level=level
    )
    found = as_json({"alpha_annotator_interval": interval})
    return {"sharing_annotators": pairs.n_annotators, **found}


def to_store(opinions: Opinions, n_grades: int) -> Figures:
    """Return what `figures_stored` needs, as a small JSON object.

    It has the number of pairs with each combination of labels, and the 95 % interval with
    annotators resampled.
    """
    first = opinions.first
    return {
        "n_grades": n_grades,
        "first_labels": _patterns(first.counts),
        "all_labels": _patterns(opinions.counts),
        "annotators": _by_people(first, n_grades, Resampling()),
    }


def figures_stored(stored: Figures, how: Resampling) -> dict[str, Figures]:
    """Return the figures of `figures_of_both` with the stored interval of resampled annotators."""
    n_grades, annotators = stored["n_grades"], stored["annotators"]
    first, every = (
        figures_of(_counts_of(stored[name]), n_grades, how)
        for name in ("first_labels", "all_labels")
    )
    undefined = first["undefined"] | annotators["undefined"]
    return {"first_labels": {**first, **annotators, "undefined": undefined}, "all_labels": every}


def _patterns(counts: ValueCounts) -> Figures:
    return {name: getattr(counts, name).tolist() for name in ("values", "patterns", "weights")}


def _counts_of(stored: Figures) -> ValueCounts:
    values = np.array(stored["values"], np.int64)
    patterns = np.array(stored["patterns"], np.int64).reshape(-1, len(values))
    return ValueCounts(values, patterns, np.array(stored["weights"], np.int64))


def as_json(found: dict[str, Estimate | Interval]) -> Figures:
    """Return values and ends of intervals by name, null if undefined; reasons under `undefined`."""
    return {
        **{name: _value(figure) for name, figure in found.items()},
        "undefined": {name: one.undefined for name, one in found.items() if one.undefined},
    }


def as_relevance(counts: ValueCounts) -> ValueCounts:
    """Return the same pairs with labels 0 for not relevant and 1 for any relevant grade."""
    not_relevant = counts.patterns[:, counts.values == 0].sum(axis=1)
    relevant = counts.patterns.sum(axis=1) - not_relevant
    return ValueCounts(
        np.array([0, 1], np.int64), np.stack([not_relevant, relevant], axis=1), counts.weights
    )


def _value(figure: Estimate | Interval) -> float | list[float] | None:
    if isinstance(figure, Estimate):
        return figure.value
    if figure.low is None or figure.high is None:
        return None
    return [figure.low, figure.high]


def _alphas(
    name: str, counts: ValueCounts, level: Level, how: Resampling
) -> dict[str, Estimate | Interval]:
    interval = alpha_interval(
        counts, how.resamples, rng=how.rng(), confidence=how.confidence, level=level
    )
    return {name: krippendorff_alpha(counts, level), f"{name}_interval": interval}


def _gwet(
    name: str, counts: ValueCounts, n_grades: int, how: Resampling, *, ordinal: bool
) -> dict[str, Estimate | Interval]:
    interval = gwet_interval(
        counts,
        n_grades,
        how.resamples,
        rng=how.rng(),
        confidence=how.confidence,
        ordinal=ordinal,
    )
    return {name: gwet_ac(counts, n_grades, ordinal=ordinal), f"{name}_interval": interval}
