"""The measures. Each is one object with everything that is known about it.

A positive is a pair whose gain is at least the threshold of the scoring (1 by default).
`scoring.score_run` computes measures from labels, and `graded.scoring` from graded relevance.

Conventions for all measures that are computed from labels:

- A mean is over ALL queries of the benchmark. A query without a list in the run scores 0, and so
  does a query without any positive. The exceptions are MedR, MeanR and Judged@k.
  ir_measures and trec_eval treat a query in the same way if its judged pairs are all not relevant,
  but they omit a query without any judged pair.
- A measure without a cutoff uses the whole list. AP at depth 10 and AP at depth 20 are therefore
  different numbers. Compare runs of the same depth, or use `AP@10`.
- A list shorter than k counts as if it continued with videos that are not relevant. Only `Judged@k`
  divides by the actual length, because it describes the judging and not the run.

"FIRE" is P. Rodriguez et al., Fighting FIRe with FIRE: Assessing the Validity of Text-to-Video
Retrieval Benchmarks, 2022, arXiv:2210.05038.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.moments import kinds
from evaluation.core.relevance.expected import expect_ratio, ranks_of
from evaluation.core.relevance.measure import (
    Cutoff,
    Declared,
    DividedKind,
    Kind,
    Measure,
    Score,
    check_labels_suffice,
    names_that_can,
    parse_measure,
    register,
)
from evaluation.core.relevance.strata import NEEDS_STRATA

if TYPE_CHECKING:
    from evaluation.core.graded.scoring import GradedLists
    from evaluation.core.moments.lists import MomentLists
    from evaluation.core.pools.extremes import Extremes, Sides
    from evaluation.core.relevance.scoring import ListStatistics

__all__ = [
    "DEFAULT_MEASURES",
    "Measure",
    "check_labels_suffice",
    "names_that_can",
    "parse_measure",
]

INFERRED_EPSILON: Final = 1e-5
"""trec_eval's INFAP_EPSILON. It keeps a share of relevant pairs defined if no pair is judged."""
MEDIAN_BEYOND_DEPTH: Final = "half of the queries or more have no positive within the depth"


class Correct(Kind):
    """1 if a positive is in the top k, else 0 (Success@k; video retrieval papers call it R@k)."""

    cutoff = Cutoff.NEEDED

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        return (lists.n_hits[measure.cutoff] > 0).astype(np.float64)

    def correct(self, t: FloatArray, measure: Measure) -> FloatArray:
        return np.asarray(1 - (1 - t[: measure.cutoff]).prod(axis=0))

    def expect(self, chance: FloatArray, outside: IntArray, measure: Measure) -> FloatArray:
        return self.correct(chance, measure)

    def square(self, t: FloatArray, measure: Measure) -> FloatArray:
        return self.correct(t, measure)


class Recall(DividedKind):
    """Positives in the top k / all positives of the query."""

    cutoff = Cutoff.NEEDED
    parameters = {"tIoU": kinds.TIOU, "nms": kinds.NMS}
    bounded = True

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        return divide(lists.n_hits[measure.cutoff], lists.n_positives)

    def sides(self, block: Extremes, measure: Measure) -> Sides:
        return block.recall(measure.cutoff)

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        return kinds.recall(lists, measure)

    def expect(self, chance: FloatArray, outside: IntArray, measure: Measure) -> FloatArray:
        k = measure.cutoff
        return expect_ratio(chance, outside, lambda share, _z: share[:k].sum(axis=0))


class Precision(Kind):
    """Positives in the top k / k."""

    cutoff = Cutoff.NEEDED

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        return lists.n_hits[measure.cutoff] / float(measure.cutoff or 1)

    def correct(self, t: FloatArray, measure: Measure) -> FloatArray:
        return np.asarray(t[: measure.cutoff].sum(axis=0) / (measure.cutoff or 1))

    def expect(self, chance: FloatArray, outside: IntArray, measure: Measure) -> FloatArray:
        return self.correct(chance, measure)

    def square(self, t: FloatArray, measure: Measure) -> FloatArray:
        total = t.sum(axis=0) ** 2 + (t - t * t).sum(axis=0)
        return np.asarray(total / (measure.cutoff or 1) ** 2)


class _PrecisionSum(DividedKind):
    """The sum of the precision at the rank of each positive of the top k, divided by a number."""

    with_above = True

    def precision_sum(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        return lists.sum_over_hits(lists.hits.nth / lists.hits.rank, measure.cutoff)

    def weights(self, ranks: IntArray) -> FloatArray:
        return 1 / ranks

    def expect(self, chance: FloatArray, outside: IntArray, measure: Measure) -> FloatArray:
        def precision_sum(share: FloatArray, z: float) -> FloatArray:
            share = share[: measure.cutoff]
            above = np.cumsum(share, axis=0) - share
            return np.asarray((share * (1 + z * above) / ranks_of(share)).sum(axis=0))

        return expect_ratio(chance, outside, precision_sum)


class AveragePrecision(_PrecisionSum):
    """The mean, over ALL positives of the query, of the precision at the rank of each positive.

    A positive that is not in the list, or not in its top k, counts as 0 (Manning et al.,
    Introduction to Information Retrieval, 8.4; FIRE, equation 2). Graded: an item of relevance 1 is
    a positive.
    """

    parameters = {"tIoU": kinds.TIOU, "length": kinds.LENGTH}
    grades_hits = True

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        return divide(self.precision_sum(lists, measure), lists.n_positives)

    def sides(self, block: Extremes, measure: Measure) -> Sides:
        return block.average_precision(measure.cutoff)

    def grade(self, lists: GradedLists, measure: Measure) -> FloatArray:
        return lists.mean_over_hits(lists.hit_numbers)

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        return kinds.window_precision(lists, measure)


class FoundPrecision(_PrecisionSum):
    """AP divided by the number of positives in the list, or in its top k.

    A missed positive does not lower the score (as in the published FIRE code).
    """

    divides_by_all = False

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        return divide(self.precision_sum(lists, measure), lists.n_hits[measure.cutoff])

    def sides(self, block: Extremes, measure: Measure) -> Sides:
        return block.average_precision_found(measure.cutoff)

    def expect(self, chance: FloatArray, outside: IntArray, measure: Measure) -> FloatArray:
        return super().expect(chance[: measure.cutoff], np.zeros_like(outside), measure)


class InferredPrecision(Kind):
    """AP estimated from strata of the pool, of which shares were judged (xinfAP).

    Yilmaz, Kanoulas and Aslam, A simple and efficient sampling method for estimating AP and NDCG,
    SIGIR 2008. In stratum s, let N of the pooled pairs of the query be N_s, of which n_s were drawn
    and judged and r_s are relevant. A judged pair stands for N_s / n_s pairs. The precision at the
    rank k of a judged positive is estimated as (1 + the sum over s of p_s (r + e) / (j + 2 e)) / k,
    where p_s, j and r are the numbers of pooled, judged and relevant pairs of s above rank k, and
    e = 0.00001. The value is the sum of these precisions times N_s / n_s, divided by the sum of
    N_s r_s / n_s. With one stratum, it is infAP.

    The denominator is right on average. The quotient is not if a caption has only few relevant
    pairs in sampled strata. The numerator is too high if no pair of s above rank k is judged: r and
    j are then 0, and e makes p_s count half.
    """

    needs = NEEDS_STRATA
    cutoff = Cutoff.NONE

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        found = lists.sampled
        if found is None:
            raise ValueError("the strata are missing")
        rank = np.arange(1, found.stratum.shape[1] + 1)
        precision = np.ones(found.stratum.shape)
        weight = np.zeros(found.stratum.shape)
        for number in range(found.weights.shape[1]):
            inside = found.stratum == number
            above = [
                np.cumsum(flags, axis=1) - flags
                for flags in (inside, inside & found.judged, inside & found.relevant)
            ]
            share = (above[2] + INFERRED_EPSILON) / (above[1] + 2 * INFERRED_EPSILON)
            precision += above[0] * share
            weight += inside * found.weights[:, number, None]
        total = np.where(found.relevant, weight * precision / rank, 0.0).sum(axis=1)
        return divide(total, found.n_relevant)


class EpicPrecision(Kind):
    """The mean over the hits, items of relevance 1, of (sum of relevance down to the hit) / rank.

    The sum includes the relevance of items that are not hits, so the value is never below AP. It is
    the "mAP" of the published EPIC-KITCHENS code.
    """

    needs = "a proxy"
    cutoff = Cutoff.NONE
    grades_hits = True

    def grade(self, lists: GradedLists, measure: Measure) -> FloatArray:
        return lists.mean_over_hits(lists.relevance_sums)


class ReciprocalRank(Kind):
    """1 / rank of the first positive."""

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        scores = np.zeros(lists.n_queries, dtype=np.float64)
        scores[lists.first_query] = 1.0 / lists.first_rank
        k = measure.cutoff
        return scores if k is None else np.where(lists.n_hits[k] > 0, scores, 0.0)

    def expect(self, chance: FloatArray, outside: IntArray, measure: Measure) -> FloatArray:
        none_above = np.cumprod(1 - chance[: measure.cutoff], axis=0)
        # The probability that a rank has the first positive: it has one, and no rank above it has.
        first = -np.diff(none_above, axis=0, prepend=1.0)
        return np.asarray((first / ranks_of(first)).sum(axis=0))

    def correct(self, t: FloatArray, measure: Measure) -> FloatArray:
        return self._sum(t[: measure.cutoff], 1)

    def square(self, t: FloatArray, measure: Measure) -> FloatArray:
        return self._sum(t, 2)

    def _sum(self, t: FloatArray, power: int) -> FloatArray:
        none_above = np.cumprod(np.vstack([np.ones(t.shape[1]), 1 - t]), axis=0)[:-1]
        return np.asarray((t * none_above / ranks_of(t) ** power).sum(axis=0))


def _linear(gain: npt.NDArray[Any]) -> FloatArray:
    return np.asarray(gain, dtype=np.float64)


def _exponential(gain: npt.NDArray[Any]) -> FloatArray:
    return np.exp2(_linear(gain)) - 1.0


_GAINS: Final = {"linear": _linear, "exp": _exponential}


class Ndcg(DividedKind):
    """The sum of gain / log2(rank + 1), divided by the same sum for the best possible list.

    Both sums end at k; without a cutoff, they include the whole list and all positives (Järvelin
    and Kekäläinen 2002, as in trec_eval). The gain `exp` is 2^gain - 1 (Burges et al. 2005).

    Graded: gains are those of the relevance, and k is the number of items with a relevance above 0
    (Wray et al. 2021, equations 2 and 3). The order `random` is the exact mean over all orders: the
    mean gain of all items, times the sum of 1 / log2(rank + 1) over the first k ranks, / IDCG.
    """

    is_ideal = True
    parameters = {
        "gain": Declared(tuple(_GAINS)),
        "tIoU": kinds.TIOU,
        "order": Declared(("random",), needs="a proxy"),
    }
    gain: str = "linear"

    def _value(self, measure: Measure) -> Callable[[npt.NDArray[Any]], FloatArray]:
        """Return the function from gains of any type to their values, float64."""
        return _GAINS[str(measure.parameter("gain") or self.gain)]

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        return divide(*lists.discounted_gains(measure.cutoff, self._value(measure)))

    def sides(self, block: Extremes, measure: Measure) -> Sides:
        return block.ndcg(measure.cutoff, self._value(measure))

    def weights(self, ranks: IntArray) -> FloatArray:
        return 1 / np.log2(ranks + 1)

    def grade(self, lists: GradedLists, measure: Measure) -> FloatArray:
        value = self._value(measure)
        ideal, mean_gain = lists.best.gains(value)
        if measure.parameter("order") == "random":
            return mean_gain * lists.discount_sums / ideal
        return value(lists.top) @ lists.discounts / ideal


class ExponentialNdcg(Ndcg):
    """nDCG with 2^gain - 1 instead of the gain."""

    parameters = {name: Ndcg.parameters[name] for name in ("tIoU", "order")}
    gain = "exp"

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        return kinds.moment_ndcg(lists, measure)


class MeanRank(Kind):
    """The mean rank of the first positive. A list without a positive counts as rank depth + 1.

    It is therefore a lower bound of the mean rank unless `not_retrieved` is 0, so publish both
    numbers.
    """

    cutoff = Cutoff.NONE
    is_rank = True

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        ranks = np.full(lists.n_queries, lists.gains.shape[1] + 1, dtype=np.float64)
        ranks[lists.first_query] = lists.first_rank
        return ranks


class MedianRank(MeanRank):
    """The median rank of the first positive, exact or undefined."""

    def mean(self, values: FloatArray, not_retrieved: int) -> Score:
        # If exactly half of an even number of ranks is unknown, the median lies between a known
        # and an unknown rank.
        if 2 * not_retrieved >= len(values):
            return Score(None, len(values), MEDIAN_BEYOND_DEPTH)
        return Score(float(np.median(values)), len(values))


class JudgedShare(Kind):
    """Judged pairs in the top k / length of the top k (as in ir_measures); 0 for an empty list.

    `of=moments`: the share of the listed moments of which it is known whether they are right.
    """

    cutoff = Cutoff.NEEDED
    parameters = {"of": Declared(("moments",), needs=kinds.NEEDS)}
    counts_judged = True

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        k = measure.cutoff or 0
        # The sum runs over contiguous columns, because numpy is slow along short rows.
        judged = np.ascontiguousarray((lists.gains[:, :k] >= 0).T).sum(axis=0)
        return divide(judged, np.minimum(lists.lengths, k))

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        k = measure.cutoff or 0
        top = lists.lists.top(k)
        judged = (top.is_item & ~lists.unjudged[:, :k]).sum(axis=1)
        return divide(judged, top.lengths)


def divide(dividend: npt.NDArray[Any], divisor: npt.NDArray[Any]) -> FloatArray:
    """Divide element by element. The result is 0 if the divisor is 0."""
    quotient = np.zeros(dividend.shape, dtype=np.float64)
    np.divide(dividend, divisor, out=quotient, where=divisor != 0)
    return quotient


register(
    Correct("C"),
    Recall("R"),
    Precision("P"),
    AveragePrecision("AP"),
    InferredPrecision("xinfAP"),
    FoundPrecision("AP(found)"),
    ReciprocalRank("RR"),
    Ndcg("nDCG"),
    ExponentialNdcg("nDCG(exp)"),
    MedianRank("MedR"),
    MeanRank("MeanR"),
    JudgedShare("Judged"),
    EpicPrecision("mAP(epic)"),
    *kinds.KINDS,
)

DEFAULT_MEASURES: Final[tuple[Measure, ...]] = tuple(
    parse_measure(text)
    for text in (
        "C@1 C@5 C@10 R@1 R@5 R@10 P@1 P@5 P@10 AP AP(found) RR nDCG nDCG@10 MedR MeanR Judged@10"
    ).split()
)
