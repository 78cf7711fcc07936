"""The labels of a benchmark as evidence, and numbers of relevance at given error rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray
from evaluation.core.people.dawid_skene import dawid_skene
from evaluation.core.people.label_rates import (
    NO_BETTER_THAN_CHANCE,
    NO_SECOND_LABELS,
    ErrorRates,
    RatesEstimate,
)
from evaluation.core.people.label_table import LabelTable, tabulate_labels
from evaluation.core.relevance.corrected_scores import locate
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.noise_relevance import (
    Evidence,
    evidence_from_counts,
    evidence_from_labels,
    posterior_relevance,
    unbiased_relevance,
)
from pooling.core.pair_space import PairSpace

# An annotator's own rates are combined with this number of labels at the rates of all.
_SHRINKAGE: Final = 50
_CERTAIN: Final = 700.0


@dataclass(frozen=True, slots=True, eq=False)
class EachLabel:
    """Single labels with their annotators, int64 [n_labels] each.

    pair_of: the place of the pair in `NoisyLabels.codes`. annotators: numbered from 0 without gaps.
    relevant: 0 or 1.
    """

    pair_of: IntArray
    annotators: IntArray
    relevant: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorRates:
    """Error rates of each annotator, [n_annotators], and of an average label."""

    false_alarms: FloatArray
    misses: FloatArray
    mean: ErrorRates


@dataclass(frozen=True, slots=True, eq=False)
class NoisyLabels:
    """All pairs with a label, a ruling or known truth, [n_pairs] each, ascending by code.

    codes: int64, codes of pairs in `space`.
    given, relevant: int64, labels of the pair and those among them that say relevant. ruled: int8,
    a lead's ruling (0 or 1), -1 without one; it counts as the truth. is_known: original positives
    that count as relevant whatever their labels say. in_all: int64, labels of the pair with those
    that were requested because of the first ones and do not count in `given`. is_copy: pairs whose
    labels were given to an equal caption; they have no part in error rates.
    """

    codes: IntArray
    space: PairSpace
    given: IntArray
    relevant: IntArray
    ruled: GainArray
    is_known: BoolArray
    in_all: IntArray
    each: EachLabel | None = None
    is_copy: BoolArray | None = None

    @property
    def is_positive(self) -> BoolArray:
        """Whether raw scores count the pair as relevant, [n_pairs]: known, by a ruling, or by
        majority."""
        by_labels = np.where(self.ruled >= 0, self.ruled == 1, 2 * self.relevant > self.given)
        return np.asarray(self.is_known | by_labels)

    @property
    def is_alone(self) -> BoolArray:
        """Whether no other pair of the caption is labelled relevant, [n_pairs].

        Original positives that are known do not count.
        """
        positive = self.is_positive & ~self.is_known
        query = self.space.queries(self.codes)
        return np.asarray(np.bincount(query, weights=positive)[query] - positive == 0)

    def table(self, strata: IntArray, clusters: IntArray, n_clusters: int) -> LabelTable:
        """The pairs with several labels, counted; those of known truth and copies are left out."""
        free = ~self.is_known if self.is_copy is None else ~(self.is_known | self.is_copy)
        return tabulate_labels(
            self.given[free],
            self.relevant[free],
            strata[free],
            clusters[free],
            n_clusters,
            self.is_alone[free],
        )

    def relevance(self, rates: ErrorRates, annotators: AnnotatorRates | None = None) -> FloatArray:
        """Return a number for each pair that is its truth on average; 1 for known truth."""
        found, free = np.ones(len(self.codes)), ~self.is_known
        groups = self.is_alone[free].astype(np.int64)
        found[free] = unbiased_relevance(self._evidence(rates, annotators), groups)
        return found

    def posterior(
        self, rates: ErrorRates, strata: IntArray, annotators: AnnotatorRates | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the chance that each pair is relevant [n_pairs], and the share of each stratum.

        Known pairs are left out of the share.
        """
        found = np.ones(len(self.codes))
        free = ~self.is_known
        found[free], shares = posterior_relevance(self._evidence(rates, annotators), strata[free])
        return found, shares

    def _evidence(self, rates: ErrorRates, annotators: AnnotatorRates | None) -> Evidence:
        """Return the evidence of the pairs whose truth is not known."""
        false_alarms = rates.false_alarms(self.is_alone)
        evidence = evidence_from_counts(self.given, self.relevant, false_alarms, rates.miss)
        if annotators is not None and self.each is not None:
            evidence = self._evidence_of_annotators(evidence, rates, annotators, self.each)
        ruled, free = self.ruled >= 0, ~self.is_known
        ratio = np.where(ruled, _CERTAIN * (1 - 2.0 * self.ruled), evidence.log_ratio)
        mean = np.where(ruled, self.ruled, evidence.mean)
        # A ruling on a pair without labels also counts as evidence.
        given = np.where(ruled, np.maximum(self.given, 1), self.given)
        return Evidence(ratio[free], mean[free], given[free])

    def _evidence_of_annotators(
        self, common: Evidence, rates: ErrorRates, own: AnnotatorRates, each: EachLabel
    ) -> Evidence:
        """Return the evidence at each annotator's rates, which move in proportion to the average
        `rates`.

        Pairs without single labels use the average rates.
        """
        alarms = rates.false_alarms(self.is_alone)[each.pair_of]
        false_alarms = own.false_alarms[each.annotators] * (alarms / own.mean.false_alarm)
        misses = own.misses[each.annotators] * (rates.miss / own.mean.miss)
        room = 0.98 / np.maximum(false_alarms + misses, 0.98)  # better than chance, all of them
        found = evidence_from_labels(
            each.pair_of, each.relevant, false_alarms * room, misses * room, len(self.codes)
        )
        has = found.given > 0
        return Evidence(
            np.where(has, found.log_ratio, common.log_ratio),
            np.where(has, found.mean, common.mean),
            self.given,
        )


def best_ranks(runs: Iterable[npt.NDArray[Any]], codes: IntArray, n_videos: int) -> IntArray:
    """The best rank of each pair in any run, from 1; 0 for a pair that no run has: int64 [J].

    runs: ranked lists [n_queries, depth]. codes: int64 [J], ascending.
    """
    nowhere = np.iinfo(np.int64).max
    best = np.full(len(codes), nowhere)
    for ranked in runs:
        places = locate(ranked, codes, n_videos).places
        # From the last rank up; a run has each pair once.
        for rank in range(len(places), 0, -1):
            found = places[rank - 1]
            found = found[found >= 0]
            best[found] = np.minimum(best[found], rank)
    return np.where(best == nowhere, 0, best)


def rank_strata(codes: IntArray, best_rank: IntArray, original: Judged) -> tuple[IntArray, int]:
    """Return strata of similar pairs [n_pairs], and their number.

    best: the best rank of a pair in any run, from 1; 0 for none. Strata: 0 for rank 1, 1 for 2 and
    3, 2 for 4 to 10, 3 for others, 4 for original positives.
    """
    strata = np.digitize(best_rank, [2, 4, 11])
    strata = np.where(best_rank == 0, 3, strata)
    return np.where(np.isin(codes, original.codes), 4, strata).astype(np.int64), 5


def annotator_rates(each: EachLabel) -> AnnotatorRates | str:
    """Return the error rates of each annotator by the model of Dawid and Skene, or the reason.

    The model is fitted to pairs with several labels. The rates of an annotator with few of them are
    drawn towards those of all annotators.
    """
    n = int(each.annotators.max(initial=-1)) + 1
    shared = np.bincount(each.pair_of, minlength=1)[each.pair_of] > 1
    if not shared.any():
        return NO_SECOND_LABELS
    pairs, people = (
        np.unique(one[shared], return_inverse=True)[1].reshape(-1).astype(np.int64)
        for one in (each.pair_of, each.annotators)
    )
    estimate = dawid_skene(pairs, people, each.relevant[shared], 2)
    if estimate.model is None:
        return estimate.undefined or ""
    model, numbers = estimate.model, np.unique(each.annotators[shared])
    labels = np.bincount(people)
    found = []
    for true, said in ((0, 1), (1, 0)):
        weight = labels * model.priors[true]
        own = model.confusion[:, true, said]
        usual = float((own * weight).sum() / weight.sum())
        rates = np.full(n, usual)
        rates[numbers] = (own * weight + usual * _SHRINKAGE) / (weight + _SHRINKAGE)
        found.append(rates)
    all_labels = np.bincount(each.annotators, minlength=n)
    means = [float((rates * all_labels).sum() / all_labels.sum()) for rates in found]
    if sum(means) >= 1:
        return NO_BETTER_THAN_CHANCE
    return AnnotatorRates(found[0], found[1], ErrorRates(*means))


def estimate_of_annotators(own: AnnotatorRates, by_labels: RatesEstimate) -> RatesEstimate:
    """Return the average rates of the annotators.

    In resamples they vary in the same proportion as those of `by_labels`, which has no annotators.
    """
    if by_labels.rates is None:
        return by_labels
    common = np.array(by_labels.rates.values)
    ratio = np.array([own.mean.false_alarm, own.mean.miss]) / np.maximum(common[:2], 1e-9)
    ratios = ratio[[0, 1, 0, 0][: len(common)]]
    rates = ErrorRates(*np.minimum(common * ratios, 0.49).tolist())
    return RatesEstimate(
        rates,
        by_labels.prevalence,
        by_labels.draws * ratios,
        by_labels.pairs,
        by_labels.disagreements,
    )
