"""Warnings about scores so close to 100 % that the remaining gap can be noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from evaluation.core.people.agreement import count_opinions, percent_agreement
from evaluation.core.relevance.corrected_scores import is_correctable
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.label_noise import score_change_by_noise
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.statistics.saturation import INTERVAL, NOISE
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.noise import noise_of_labels
from evaluation.lab.analyses.rows import MeasureName, Run, Score, Shown
from evaluation.release.selectors import label_set_labels

SATURATION_NOTE = (
    "A score is saturated if the points left to gain are at most half the width of its interval, "
    "or at most the change that wrong labels cause. This change is the difference of the raw and "
    "the corrected score, which the analysis “Wrong labels” shows with its interval. It can "
    "be computed only for text-to-video runs, and only if pairs with several labels show how often "
    "labels are wrong."
)

SATURATED = {None: "no", INTERVAL: "yes, by the interval", NOISE: "yes, by label noise"}

Changes = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturated:
    """The gap of a score to 1, and the numbers that it is compared with; null if undefined.

    noise: the change of the score that wrong labels cause
    saturated_by: the reason, `interval` or `noise`; null if the score is not saturated
    """

    run: Run
    measure: MeasureName
    gap: Annotated[Score, Shown("Gap to 100 %, points", "points")]
    noise: Annotated[Score, Shown("Label noise, points", "points")]
    saturated_by: Annotated[str | None, Shown("Saturated", write=SATURATED.__getitem__)]


def changes_by_noise(
    inputs: Inputs, measures: Sequence[str], judged: Judged, known: Judged
) -> Changes:
    """Return the absolute change in each score that label noise causes, by run and measure.

    Unknown changes are left out. judged: the labels of the scores. known: original positives that
    count as relevant, regardless of their labels.
    """
    wanted = [measure for measure in map(parse_measure, measures) if is_correctable(measure)]
    if not wanted:
        return {}
    noise = noise_of_labels(inputs, known)
    if noise is None or noise.estimate.rates is None:
        return {}
    relevance = noise.labels.relevance(noise.estimate.rates)
    return {
        (run, str(measure)): abs(change)
        for run, ranked in inputs.ranked.items()
        for measure, change in score_change_by_noise(
            ranked, judged, noise.labels.codes, relevance, wanted
        ).items()
    }


def disagreement_of(inputs: Inputs) -> float | None:
    """Return the share of pairs with several labels whose labels differ, or None."""
    if inputs.label_set is None:
        return None
    labels = label_set_labels(inputs.label_set)
    agreed = percent_agreement(count_opinions(labels.judgments, labels.relevant)).value
    return None if agreed is None else 1 - agreed


def saturation_warnings(rows: Iterable[Saturated]) -> list[str]:
    """Return a warning for each saturated row."""
    return [
        f"{row.measure} of {row.run} is saturated: the {100 * (row.gap or 0):.1f} points left to "
        f"gain {_describe_gap(row)}."
        for row in rows
        if row.saturated_by is not None
    ]


def _describe_gap(row: Saturated) -> str:
    if row.saturated_by == INTERVAL:
        return "are within the interval of the score"
    return f"are at most the {100 * (row.noise or 0):.1f} points that wrong labels may cause"
