"""The errors of a label set, for analyses that do not read single judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import IntArray, dense_groups
from evaluation.core.people.label_rates import RatesEstimate, rates_from_labels
from evaluation.core.relevance.corrected_bounds import correct_bounds
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.label_noise import Resamples
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.noisy_labels import NoisyLabels, best_ranks, rank_strata
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import Ends
from evaluation.lab.selectors import labels_of_set
from pooling.core.direction import Direction
from pooling.core.ranked_lists import RankedLists
from pooling.selectors.captions import first_equal_captions

# The number of resamples of the error rates, if an analysis has no option for it.
DRAWS: Final = 500

EQUAL_RATES = (
    "The correction uses the error rates that pairs with several labels show, as the analysis "
    "“Wrong labels” does, which also explains it. It assumes that all labels with the same rate "
    "are wrong equally often, and independently. Of a pair that was confirmed, it uses only the "
    "first label."
)


ALL_POSITIVES = (
    "AP, R@k and nDCG divide by the number of positives, so they depend on the label of every "
    "positive, and a correction of wrong labels raises them too much. Second labels for all "
    "positives (“Request second labels” on the page of a run, or `confirm_positives --all`) bring "
    "them closer to their true values."
)


@dataclass(frozen=True, slots=True, eq=False)
class LabelNoise:
    """The labels of a label set as evidence, and the error rates that they show.

    estimate: from pairs with several labels, with a draw for each of `resamples`. sharing: int64
    [n_queries], the number of captions that share the labels of each caption; None if none do.
    """

    labels: NoisyLabels
    estimate: RatesEstimate
    resamples: Resamples
    sharing: IntArray | None


def noise_of_labels(
    inputs: Inputs, known: Judged, *, unit: str = "", number: int = 0, seed: int = 0
) -> LabelNoise | None:
    """Return the errors of the selected label set, or None if they are unknown.

    known: the original positives that count as relevant, regardless of their labels. unit: the
    resampling unit. number: the number of resamples of the error rates.

    The error rates are estimated from pairs grouped by their ranks in text-to-video runs, so they
    are unknown for other runs.
    """
    if inputs.label_set is None or inputs.direction is not Direction.TEXT_TO_VIDEO:
        return None
    labels = labels_of_set(inputs.label_set, known)
    n_queries = inputs.space.n_queries
    clusters = inputs.clusters(unit) if unit else None
    groups = dense_groups(np.arange(n_queries) if clusters is None else clusters, n_queries)
    resamples = Resamples(groups, number, seed)
    ranks = best_ranks(inputs.ranked.values(), labels.codes)
    strata, _ = rank_strata(labels.codes, ranks, inputs.original)
    of_pairs = resamples.clusters[labels.space.queries(labels.codes)]
    table = labels.table(strata, of_pairs, resamples.n_clusters)
    estimate = rates_from_labels(table, resamples.sums(table.counts))
    if estimate.rates is None:
        return None
    return LabelNoise(labels, estimate, resamples, sharing_of(inputs, labels))


def corrected_bounds(
    noise: LabelNoise | None,
    ranked: RankedLists,
    measures: Sequence[Measure],
    confidence: float,
) -> dict[Measure, Ends]:
    """Return the bounds of a run that allow for wrong labels.

    Measures without such bounds are left out, and all measures if the errors are unknown.
    """
    if noise is None:
        return {}
    found = correct_bounds(
        ranked,
        noise.labels.codes,
        noise.labels.relevance,
        measures,
        noise.estimate,
        confidence=confidence,
        sharing=noise.sharing,
    )
    return {measure: list(ends) for measure, ends in found.items()}


def sharing_of(inputs: Inputs, labels: NoisyLabels) -> IntArray | None:
    """Return the number of captions with the text of each caption, if they share labels."""
    if labels.is_copy is None or not labels.is_copy.any():
        return None
    first_equal = first_equal_captions(inputs.benchmark)
    return np.bincount(first_equal)[first_equal]
