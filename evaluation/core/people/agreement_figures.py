"""All agreement figures, for the planned labels of each pair and for all labels.

After the planned labels, another label is requested if a relevant label is to be confirmed, or if
the labels have no majority, for example a third one if the first two differ. Figures of all labels
are therefore biased: pairs with different labels count more, and on a scale of two steps, a third
label must equal one of the first two. Figures of the planned labels do not have this bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NotRequired, TypeAlias, TypedDict, cast

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

Ends: TypeAlias = list[float] | None
"""The lower and the upper end of an interval as JSON; null if it is undefined."""


class MainAgreement(TypedDict):
    """The main agreement figures as JSON; null if undefined.

    alpha_interval: the interval of alpha with annotators resampled, which also covers the choice of
    the pairs. It has a second name, `alpha_annotator_interval`. alpha_interval_pairs: the interval
    with pairs resampled, which holds for the same annotators only. undefined: the reason for each
    figure that is null, by its name.
    """

    multiply_labelled: int
    alpha_level: Level
    agreement: float | None
    pairwise_agreement: float | None
    alpha: float | None
    alpha_interval: Ends
    alpha_annotator_interval: Ends
    alpha_interval_pairs: Ends
    ac1: float | None
    ac1_interval: Ends
    undefined: dict[str, str]


class LabelAgreement(MainAgreement):
    """All agreement figures.

    sharing_annotators: number of annotators who share a pair with another annotator. The keys that
    are not required exist only if the scale has more than two steps.
    """

    labels: int
    sharing_annotators: int
    alpha_nominal: NotRequired[float | None]
    alpha_nominal_interval: NotRequired[Ends]
    ac2: NotRequired[float | None]
    ac2_interval: NotRequired[Ends]
    relevance_agreement: NotRequired[float | None]
    relevance_alpha: NotRequired[float | None]


class AgreementFigures(TypedDict):
    """Agreement of the planned labels of each pair, and of all labels."""

    first_labels: LabelAgreement
    all_labels: LabelAgreement


class AnnotatorInterval(TypedDict):
    """The figures of some labels with annotators resampled, as label sets store them."""

    sharing_annotators: int
    alpha_annotator_interval: Ends
    undefined: dict[str, str]


NOT_STORED: Final = "the annotators of these labels are not stored"
ANNOTATOR_INTERVAL: Final = ("alpha_interval", "alpha_annotator_interval")
UNKNOWN_ANNOTATORS: Final[AnnotatorInterval] = {
    "sharing_annotators": 0,
    "alpha_annotator_interval": None,
    "undefined": {"alpha_annotator_interval": NOT_STORED},
}


class StoredCounts(TypedDict):
    """`ValueCounts` as JSON."""

    values: list[int]
    patterns: list[list[int]]
    weights: list[int]


class StoredAgreement(TypedDict):
    """The counts from which agreement figures can be computed again, as JSON.

    n_grades: number of steps of the scale. annotators, all_annotators: the figures of planned
    labels and of all labels with annotators resampled. Older versions did not store
    `all_annotators`.
    """

    n_grades: int
    first_labels: StoredCounts
    all_labels: StoredCounts
    annotators: AnnotatorInterval
    all_annotators: NotRequired[AnnotatorInterval]


@dataclass(frozen=True, slots=True)
class Resampling:
    """Settings of the bootstrap intervals: number of resamples, confidence (0 to 1) and seed."""

    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    seed: int = SEED

    def rng(self) -> np.random.Generator:
        """Return a new generator. Each interval uses its own, so no interval depends on another."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """Labels with their annotators and pairs, one row per label.

    pairs, annotators: int64 [n], numbers from 0, gaps allowed. labels: int64 [n]. is_first: bool
    [n], whether the label is one of the planned labels of its pair. No annotator has labelled a
    pair twice.
    """

    pairs: IntArray
    annotators: IntArray
    labels: IntArray
    is_first: BoolArray

    def only(self, selected: BoolArray) -> Opinions:
        """Return the selected rows, from flags [n]."""
        return Opinions(
            self.pairs[selected],
            self.annotators[selected],
            self.labels[selected],
            self.is_first[selected],
        )

    @property
    def first(self) -> Opinions:
        """The planned labels of each pair."""
        return self.only(self.is_first)

    @property
    def counts(self) -> ValueCounts:
        """The pairs, counted by their combination of labels."""
        n_pairs = int(self.pairs.max(initial=-1)) + 1
        return count_labels(self.pairs, self.labels, n_pairs)


def figures_of(
    counts: ValueCounts,
    n_grades: int,
    settings: Resampling,
    people: AnnotatorInterval = UNKNOWN_ANNOTATORS,
) -> LabelAgreement:
    """Return the agreement figures of some labels as a JSON object.

    n_grades: number of steps of the scale. people: the figures with annotators resampled, which
    cannot be computed from counts. `alpha` is nominal on a scale of two steps and ordinal on a
    longer scale. A longer scale also has `alpha_nominal`, `ac2`, and figures of relevance, which
    count all labels above 0 as equal. Their intervals resample pairs. `undefined` contains the
    reason for each figure that is null.
    """
    level: Level = "ordinal" if n_grades > 2 else "nominal"
    figures = {
        "agreement": percent_agreement(counts),
        "pairwise_agreement": pairwise_agreement(counts),
        **_alphas("alpha", "alpha_interval_pairs", counts, level, settings),
        **_gwet("ac1", counts, n_grades, settings, ordinal=False),
    }
    if n_grades > 2:
        relevance = as_relevance(counts)
        figures |= {
            **_alphas("alpha_nominal", "alpha_nominal_interval", counts, "nominal", settings),
            **_gwet("ac2", counts, n_grades, settings, ordinal=True),
            "relevance_agreement": percent_agreement(relevance),
            "relevance_alpha": krippendorff_alpha(relevance),
        }
    found = _as_json(figures)
    reason = people["undefined"].get("alpha_annotator_interval")
    undefined = dict.fromkeys(ANNOTATOR_INTERVAL, reason) if reason else {}
    found = {
        "labels": counts.n_labels,
        "multiply_labelled": counts.n_multiply_labelled,
        "sharing_annotators": people["sharing_annotators"],
        "alpha_level": level,
        **found,
        **dict.fromkeys(ANNOTATOR_INTERVAL, people["alpha_annotator_interval"]),
        "undefined": found["undefined"] | undefined,
    }
    return cast(LabelAgreement, found)


def figures_of_both(opinions: Opinions, n_grades: int, settings: Resampling) -> AgreementFigures:
    """Return the figures of the planned labels and of all labels, as `figures_of` does."""
    parts = {"first_labels": opinions.first, "all_labels": opinions}
    found = {
        name: figures_of(part.counts, n_grades, settings, _annotators(part, n_grades, settings))
        for name, part in parts.items()
    }
    return cast(AgreementFigures, found)


def _annotators(opinions: Opinions, n_grades: int, settings: Resampling) -> AnnotatorInterval:
    pairs = label_pairs(opinions.pairs, opinions.annotators, opinions.labels)
    level: Level = "ordinal" if n_grades > 2 else "nominal"
    interval = annotator_interval(
        pairs, settings.resamples, rng=settings.rng(), confidence=settings.confidence, level=level
    )
    return {
        "sharing_annotators": pairs.n_annotators,
        "alpha_annotator_interval": interval.ends,
        "undefined": _reasons({"alpha_annotator_interval": interval}),
    }


def agreement_to_store(opinions: Opinions, n_grades: int) -> StoredAgreement:
    """Return a small JSON object from which `figures_from_store` computes the figures again.

    It contains the number of pairs with each combination of labels, and the 95 % intervals of alpha
    with annotators resampled.
    """
    first = opinions.first
    return {
        "n_grades": n_grades,
        "first_labels": _counts_to_store(first.counts),
        "all_labels": _counts_to_store(opinions.counts),
        "annotators": _annotators(first, n_grades, Resampling()),
        "all_annotators": _annotators(opinions, n_grades, Resampling()),
    }


def figures_from_store(stored: StoredAgreement, settings: Resampling) -> AgreementFigures:
    """Return the same as `figures_of_both`, from the result of `agreement_to_store`.

    The intervals with annotators resampled are the stored ones, at 95 %. They do not depend on the
    settings.
    """
    n_grades = stored["n_grades"]
    people = {
        "first_labels": stored["annotators"],
        "all_labels": stored.get("all_annotators", UNKNOWN_ANNOTATORS),
    }
    return {
        "first_labels": figures_of(
            _counts_of(stored["first_labels"]), n_grades, settings, people["first_labels"]
        ),
        "all_labels": figures_of(
            _counts_of(stored["all_labels"]), n_grades, settings, people["all_labels"]
        ),
    }


def _counts_to_store(counts: ValueCounts) -> StoredCounts:
    return {
        "values": counts.values.tolist(),
        "patterns": counts.patterns.tolist(),
        "weights": counts.weights.tolist(),
    }


def _counts_of(stored: StoredCounts) -> ValueCounts:
    values = np.array(stored["values"], np.int64)
    patterns = np.array(stored["patterns"], np.int64).reshape(-1, len(values))
    return ValueCounts(values, patterns, np.array(stored["weights"], np.int64))


def _as_json(figures: Mapping[str, Estimate | Interval]) -> dict[str, Any]:
    """Return each figure's value, or the two ends of its interval, by name; null if undefined."""
    values = {
        name: figure.value if isinstance(figure, Estimate) else figure.ends
        for name, figure in figures.items()
    }
    return {**values, "undefined": _reasons(figures)}


def _reasons(figures: Mapping[str, Estimate | Interval]) -> dict[str, str]:
    """Return the reason for each figure that is undefined."""
    return {name: figure.undefined for name, figure in figures.items() if figure.undefined}


def as_relevance(counts: ValueCounts) -> ValueCounts:
    """Return the same pairs with label 0 for not relevant, and 1 for any label above 0."""
    not_relevant = counts.patterns[:, counts.values == 0].sum(axis=1)
    relevant = counts.patterns.sum(axis=1) - not_relevant
    return ValueCounts(
        np.array([0, 1], np.int64), np.stack([not_relevant, relevant], axis=1), counts.weights
    )


def _alphas(
    name: str, of_interval: str, counts: ValueCounts, level: Level, settings: Resampling
) -> dict[str, Estimate | Interval]:
    interval = alpha_interval(
        counts, settings.resamples, rng=settings.rng(), confidence=settings.confidence, level=level
    )
    return {name: krippendorff_alpha(counts, level), of_interval: interval}


def _gwet(
    name: str, counts: ValueCounts, n_grades: int, settings: Resampling, *, ordinal: bool
) -> dict[str, Estimate | Interval]:
    interval = gwet_interval(
        counts,
        n_grades,
        settings.resamples,
        rng=settings.rng(),
        confidence=settings.confidence,
        ordinal=ordinal,
    )
    return {name: gwet_ac(counts, n_grades, ordinal=ordinal), f"{name}_interval": interval}
