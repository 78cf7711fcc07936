"""Labels that can be wrong, and estimates of relevance that correct for their error rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray, renumber
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
from pooling.core.ranked_lists import RankedLists

# Each rate of an annotator is shrunk as if the annotator had this number of additional labels at
# the average rate.
_SHRINKAGE: Final = 50
# The absolute log ratio of a ruling, which counts as certain.
_CERTAIN: Final = 700.0


@dataclass(frozen=True, slots=True, eq=False)
class EachLabel:
    """Single labels with their annotators, int64 [L] each.

    pair_of: index of the pair in `NoisyLabels.codes`. annotators: numbers from 0 without gaps.
    relevant: 0 or 1.
    """

    pair_of: IntArray
    annotators: IntArray
    relevant: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorRates:
    """Error rates of each annotator, float64 [n_annotators], and the mean rates of all labels."""

    false_alarms: FloatArray
    misses: FloatArray
    mean: ErrorRates


@dataclass(frozen=True, slots=True, eq=False)
class NoisyLabels:
    """All pairs with a label or a ruling, and all original positives, [n_pairs] each.

    codes: int64, pair codes in `space`, ascending. n_labels, relevant: int64, the number of labels
    of the pair and the number of its relevant labels. Labels that confirm a sole positive are not
    counted here, because they were requested for positives only. ruled: int8, a lead's ruling (0 or
    1), or -1; a ruling counts as correct. is_known: bool, whether the pair is an original positive
    that counts as relevant regardless of its labels. n_all_labels: int64, the number of labels
    including those that confirm a sole positive. each: the single labels; None if annotators are
    not distinguished. is_copy: bool, whether the labels belong to an equal caption and are counted
    there. Such pairs are not used to estimate error rates. is_copy is None if there are none.
    """

    codes: IntArray
    space: PairSpace
    n_labels: IntArray
    relevant: IntArray
    ruled: GainArray
    is_known: BoolArray
    n_all_labels: IntArray
    each: EachLabel | None = None
    is_copy: BoolArray | None = None

    @property
    def is_positive(self) -> BoolArray:
        """Whether raw scores count the pair as relevant, bool [n_pairs].

        A known original positive is relevant. For other pairs, the ruling decides, or the majority
        of the labels if there is no ruling.
        """
        by_labels = np.where(self.ruled >= 0, self.ruled == 1, 2 * self.relevant > self.n_labels)
        return np.asarray(self.is_known | by_labels)

    @property
    def is_isolated(self) -> BoolArray:
        """Whether no other pair of the caption is labelled relevant, bool [n_pairs].

        Known original positives are ignored here.
        """
        positive = self.is_positive & ~self.is_known
        query = self.space.queries(self.codes)
        return np.asarray(np.bincount(query, weights=positive)[query] - positive == 0)

    def table(self, strata: IntArray, clusters: IntArray, n_clusters: int) -> LabelTable:
        """Count the pairs with several labels, without known original positives and copies.

        strata, clusters: int64 [n_pairs], numbered from 0.
        """
        used = ~self.is_known if self.is_copy is None else ~(self.is_known | self.is_copy)
        return tabulate_labels(
            self.n_labels[used],
            self.relevant[used],
            strata[used],
            clusters[used],
            n_clusters,
            self.is_isolated[used],
        )

    def relevance(self, rates: ErrorRates, annotators: AnnotatorRates | None = None) -> FloatArray:
        """Return an unbiased estimate of the relevance of each pair, float64 [n_pairs].

        It is 1 for known original positives.
        """
        numbers, estimated = np.ones(len(self.codes)), ~self.is_known
        groups = self.is_isolated[estimated].astype(np.int64)
        numbers[estimated] = unbiased_relevance(self._evidence(rates, annotators), groups)
        return numbers

    def posterior(
        self, rates: ErrorRates, strata: IntArray, annotators: AnnotatorRates | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the probability that each pair is relevant, and the prevalence of each stratum.

        strata: int64 [n_pairs]. The results are float64 [n_pairs] and [S]. Known original positives
        have the probability 1 and are not counted in the prevalence.
        """
        chance, estimated = np.ones(len(self.codes)), ~self.is_known
        evidence = self._evidence(rates, annotators)
        chance[estimated], prevalence = posterior_relevance(evidence, strata[estimated])
        return chance, prevalence

    def _evidence(self, rates: ErrorRates, annotators: AnnotatorRates | None) -> Evidence:
        """Return the evidence for all pairs except known original positives."""
        false_alarms = rates.false_alarms(self.is_isolated)
        evidence = evidence_from_counts(self.n_labels, self.relevant, false_alarms, rates.miss)
        if annotators is not None and self.each is not None:
            evidence = self._evidence_of_annotators(evidence, rates, annotators, self.each)
        ruled, estimated = self.ruled >= 0, ~self.is_known
        ratio = np.where(ruled, _CERTAIN * (1 - 2.0 * self.ruled), evidence.log_ratio)
        mean = np.where(ruled, self.ruled, evidence.mean)
        # `unbiased_relevance` returns 0 for a pair without labels, so a ruling counts as a label.
        n_labels = np.where(ruled, np.maximum(self.n_labels, 1), self.n_labels)
        return Evidence(ratio[estimated], mean[estimated], n_labels[estimated])

    def _evidence_of_annotators(
        self, common: Evidence, rates: ErrorRates, own: AnnotatorRates, each: EachLabel
    ) -> Evidence:
        """Return the evidence if each annotator has their own rates.

        The rates of each annotator are multiplied by the ratio of `rates` to `own.mean`. Pairs
        without a label in `each` keep the evidence `common`.
        """
        alarms = rates.false_alarms(self.is_isolated)[each.pair_of]
        false_alarms = own.false_alarms[each.annotators] * (alarms / own.mean.false_alarm)
        misses = own.misses[each.annotators] * (rates.miss / own.mean.miss)
        scale = 0.98 / np.maximum(false_alarms + misses, 0.98)  # keeps labels better than chance
        by_label = evidence_from_labels(
            each.pair_of, each.relevant, false_alarms * scale, misses * scale, len(self.codes)
        )
        has_labels = by_label.n_labels > 0
        return Evidence(
            np.where(has_labels, by_label.log_ratio, common.log_ratio),
            np.where(has_labels, by_label.mean, common.mean),
            self.n_labels,
        )


def best_ranks(runs: Iterable[RankedLists], codes: IntArray) -> IntArray:
    """Return the best rank of each pair over all runs, int64 [J], from 1; 0 if no run ranks it.

    codes: int64 [J], pair codes, ascending.
    """
    unranked = np.iinfo(np.int64).max
    best = np.full(len(codes), unranked)
    for ranked in runs:
        places = locate(ranked, codes).places
        for rank in range(len(places), 0, -1):
            pairs = places[rank - 1]
            pairs = pairs[pairs >= 0]
            best[pairs] = np.minimum(best[pairs], rank)
    return np.where(best == unranked, 0, best)


def rank_strata(codes: IntArray, best_rank: IntArray, original: Judged) -> tuple[IntArray, int]:
    """Return the stratum of each pair, int64 [n_pairs], and the number of strata.

    codes: int64 [n_pairs], pair codes. best_rank: int64 [n_pairs], from `best_ranks`. The strata
    are 0: rank 1; 1: ranks 2 and 3; 2: ranks 4 to 10; 3: a rank after 10, or no rank; 4: original
    positives of any rank.
    """
    strata = np.digitize(best_rank, [2, 4, 11])
    strata = np.where(best_rank == 0, 3, strata)
    return np.where(np.isin(codes, original.codes), 4, strata).astype(np.int64), 5


def annotator_rates(each: EachLabel) -> AnnotatorRates | str:
    """Return the error rates of each annotator, or the reason why they are undefined.

    The model of Dawid and Skene is fitted to the pairs with several labels. Each rate is shrunk
    towards the average of all annotators, most strongly for annotators with few such labels.
    Annotators without such labels have the average rates.
    """
    n = int(each.annotators.max(initial=-1)) + 1
    shared = np.bincount(each.pair_of, minlength=1)[each.pair_of] > 1
    if not shared.any():
        return NO_SECOND_LABELS
    pairs, people = (renumber(array[shared]) for array in (each.pair_of, each.annotators))
    estimate = dawid_skene(pairs, people, each.relevant[shared], 2)
    if estimate.model is None:
        return estimate.undefined or ""
    model, numbers = estimate.model, np.unique(each.annotators[shared])
    labels = np.bincount(people)
    both_rates = []
    for true, label in ((0, 1), (1, 0)):
        weight = labels * model.priors[true]
        own = model.confusion[:, true, label]
        average = float((own * weight).sum() / weight.sum())
        rates = np.full(n, average)
        rates[numbers] = (own * weight + average * _SHRINKAGE) / (weight + _SHRINKAGE)
        both_rates.append(rates)
    all_labels = np.bincount(each.annotators, minlength=n)
    means = [float((rates * all_labels).sum() / all_labels.sum()) for rates in both_rates]
    if sum(means) >= 1:
        return NO_BETTER_THAN_CHANCE
    return AnnotatorRates(both_rates[0], both_rates[1], ErrorRates(*means))


def estimate_of_annotators(own: AnnotatorRates, by_labels: RatesEstimate) -> RatesEstimate:
    """Return an estimate with the mean rates of the annotators, at most 0.49 each.

    by_labels: the estimate that does not distinguish annotators. Its resampled rates are multiplied
    by the ratio of the annotators' mean rates to its own rates. If it has no rates, the result is
    `by_labels` itself.
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
