"""Measures computed from unbiased estimates of relevance instead of labels.

A measure is a function of zeros and ones, the relevance of the pairs. It therefore equals a
polynomial in which each pair occurs at most once in each term. If the zeros and ones are replaced
by independent numbers t with the correct mean (`noise_relevance.unbiased_relevance`), the
polynomial has the correct mean, too. For zeros and ones it equals the measure.

For C, P and RR the polynomial is simple. AP, R and nDCG divide by a function of the number N of all
relevant pairs of the caption. That is, they multiply by a number h(N). Choose numbers z and weights
w such that h(N) is the sum of w z^(N - 1) for all N >= 1. Let T_r be the relevance at rank r,
with mean t_r, and let all pairs be independent. Then

    E[T_r z^(N - 1)] = s_r F,   E[T_r T_q z^(N - 1)] = z s_r s_q F,

where F is the product over all pairs of (1 - t + t z), and s_r = t_r / (1 - t_r + t_r z). For AP
and R, h(N) = 1 / N is the integral of z^(N - 1) from 0 to 1, for which Gauss's quadrature is exact.
For nDCG, z are roots of unity and w is the discrete Fourier transform of h.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.relevance.measure import DividedKind, Measure
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists

# Replaces factors that are exactly 0, because the code divides by them.
TINY: Final = 1e-100

ComplexArray = npt.NDArray[np.complex128]
Numbers = FloatArray | ComplexArray


@dataclass(frozen=True, slots=True, eq=False)
class JudgedLists:
    """Ranked lists as positions in an array of pairs.

    codes: int64 [J], ascending, the pair codes of all judged pairs and original positives. places:
    int64 [depth, n_queries], the index of each ranked pair in `codes`, or -1 for an unjudged pair.
    """

    codes: IntArray
    places: IntArray
    n_videos: int

    @property
    def n_queries(self) -> int:
        return int(self.places.shape[1])

    @property
    def space(self) -> PairSpace:
        return PairSpace(self.n_queries, self.n_videos)


def locate(lists: RankedLists, codes: IntArray) -> JudgedLists:
    """Look up the pairs of ranked lists among pair codes. codes: int64 [J], ascending."""
    ranked_codes = lists.codes
    place = np.searchsorted(codes, ranked_codes)
    found = place < len(codes)
    found[found] = codes[place[found]] == ranked_codes[found]
    places = np.where(found & lists.is_item, place, -1)
    return JudgedLists(codes, np.ascontiguousarray(places.T), lists.n_items)


def is_correctable(measure: Measure) -> bool:
    """Return whether a measure has a polynomial of the relevance of pairs."""
    kind = measure.kind
    return not measure.needs and (isinstance(kind, DividedKind) or kind.can("correct"))


def score_relevance(
    lists: JudgedLists, relevance: FloatArray, measures: Sequence[Measure]
) -> dict[Measure, FloatArray]:
    """Return the value of each measure for each query, float64 [n_queries].

    relevance: float64 [J], a number for each pair of `lists.codes`. An unjudged pair counts as 0.
    There are no grades, so nDCG has gains of 0 and 1. Raises ValueError unless all measures are
    correctable.
    """
    for measure in measures:
        if not is_correctable(measure):
            raise ValueError(f"{measure} cannot be corrected")
    t = relevance_of_ranks(lists, relevance)
    plain = [measure for measure in measures if measure.kind.can("correct")]
    values = {measure: measure.kind.correct(t, measure) for measure in plain}
    sums = [DividedSum.of(measure, len(t)) for measure in measures if measure not in values]
    values |= _divided(sums, t, lists, relevance)
    return {measure: values[measure] for measure in measures}


def relevance_of_ranks(lists: JudgedLists, relevance: FloatArray) -> FloatArray:
    """Return the number of each ranked pair, float64 [depth, n_queries]; 0 if it is unjudged."""
    return np.where(lists.places >= 0, np.append(relevance, 0.0)[lists.places], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class DividedSum:
    """A measure that is a sum over the relevant pairs of the top k, times h(N).

    weights: float64 [k], the weight of each rank.
    """

    measure: Measure
    kind: DividedKind
    weights: FloatArray

    @classmethod
    def of(cls, measure: Measure, depth: int) -> DividedSum:
        """Return the sum of a measure. Raises ValueError if it is no such sum."""
        if not isinstance(measure.kind, DividedKind):
            raise ValueError(f"{measure} is not a sum that is divided")
        ranks = np.arange(1, min(measure.cutoff or depth, depth) + 1)
        return cls(measure, measure.kind, measure.kind.weights(ranks))

    def factors(self, most: int) -> FloatArray:
        """Return h(N) for N from 0 to `most`, float64 [most + 1]; 0 for N = 0.

        For nDCG it is 1 / (DCG of the ideal list), and 1 / N for the other measures.
        """
        n = np.arange(1, most + 1)
        if not self.kind.is_ideal:
            return np.append(0.0, 1 / n)
        ideal = np.cumsum(1 / np.log2(n + 1))
        return np.append(0.0, 1 / ideal[np.minimum(n, self.measure.cutoff or most) - 1])


def _divided(
    sums: Sequence[DividedSum], t: FloatArray, lists: JudgedLists, relevance: FloatArray
) -> dict[Measure, FloatArray]:
    """Return the values [n_queries] of measures with h(N). t: float64 [depth, n_queries]."""
    values = {term.measure: np.zeros(t.shape[1]) for term in sums}
    if not sums or not len(t) or not t.shape[1]:
        return values
    groups = Groups.of(lists, relevance)
    most = max(int(groups.sizes.max(initial=0)), len(t))
    for is_ideal in (False, True):
        of_kind = [term for term in sums if term.kind.is_ideal == is_ideal]
        if of_kind:
            needs_all = any(term.kind.divides_by_all for term in of_kind)
            nodes, weights = (
                roots_of_unity([term.factors for term in of_kind], most)
                if is_ideal
                else _gauss(of_kind, most)
            )
            for place, z in enumerate(nodes.tolist()):
                parts = _parts(of_kind, t, z, groups.product(z) if needs_all else None)
                for term, weight, part in zip(of_kind, weights[:, place], parts, strict=True):
                    values[term.measure] += (weight * part).real
    return values


def _gauss(sums: Sequence[DividedSum], most: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes z [M] and weights w [sums, M] for h(N) = 1 / N, exact for N up to `most`."""
    nodes, weights = np.polynomial.legendre.leggauss(most // 2 + 1)
    return (nodes + 1) / 2, np.tile(weights / 2, (len(sums), 1))


def roots_of_unity(
    factors: Sequence[Callable[[int], FloatArray]], most: int
) -> tuple[ComplexArray, ComplexArray]:
    """Return roots of unity z [M] and weights w [factors, M], exact for N up to `most`.

    factors: functions that return h(N) for N from 0 to a number, as `DividedSum.factors`. Only one
    of every two conjugate roots is returned, with twice the weight, because the caller uses real
    parts.
    """
    size = most + 1 + most % 2  # odd, because at the root -1 the factor is 0 for t = 1/2
    places = np.arange(size // 2 + 1)
    nodes = np.exp(2j * np.pi * places / size)
    transforms = np.stack([np.fft.fft(factor(size - 1)) / size for factor in factors])
    return nodes, transforms[:, places] * nodes * np.where(places > 0, 2, 1)


def _parts(
    sums: Sequence[DividedSum], t: FloatArray, z: complex, everything: Numbers | None
) -> list[Numbers]:
    """Return the mean of sum * z^(N - 1) for each of the sums, [n_queries] each.

    everything: the product F over all pairs of each query. If it is None, only the top k counts.
    """
    factor = 1 + t * (z - 1)
    factor[factor == 0] = TINY
    s = t / factor
    above = np.cumsum(s, axis=0) - s if any(term.kind.with_above for term in sums) else s
    products = []
    for term in sums:
        k = len(term.weights)
        shares = s[:k] * (1 + z * above[:k]) if term.kind.with_above else s[:k]
        if everything is None or not term.kind.divides_by_all:
            whole: Numbers = factor[:k].prod(axis=0)
        else:
            whole = everything
        products.append(whole * (term.weights @ shares))
    return products


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The relevance numbers of each query's pairs, grouped for fast products.

    sizes: int64 [n_queries], the number of pairs. values: the different relevance numbers if they
    are few, as when all labels have the same error rates; otherwise all of them, [J]. counts:
    float64 [n_queries, values], the number of pairs with each value; None if there are many values.
    starts: the index of the first pair of each query that has pairs. present: bool [n_queries],
    whether a query has pairs.
    """

    sizes: IntArray
    values: FloatArray
    counts: FloatArray | None
    starts: IntArray
    present: BoolArray

    @classmethod
    def of(cls, lists: JudgedLists, relevance: FloatArray) -> Groups:
        query = lists.space.queries(lists.codes)
        sizes = np.bincount(query, minlength=lists.n_queries)
        values = np.unique(relevance)
        counts: FloatArray | None = None
        if len(values) <= _FEW_VALUES:
            cell = query * len(values) + np.searchsorted(values, relevance)
            cells = np.bincount(cell, minlength=lists.n_queries * len(values))
            counts = cells.reshape(lists.n_queries, len(values)).astype(np.float64)
        starts = (np.cumsum(sizes) - sizes)[sizes > 0]
        return cls(sizes, relevance if counts is None else values, counts, starts, sizes > 0)

    def product(self, z: complex) -> Numbers:
        """Return F, the product of 1 - t + t z over the pairs of each query, [n_queries].

        The result is real if z is real.
        """
        factors = 1 + self.values * (z - 1)
        factors[factors == 0] = TINY
        if self.counts is None:
            product = np.ones(len(self.sizes), factors.dtype)
            if len(self.starts):
                product[self.present] = np.multiply.reduceat(factors, self.starts)
            return product
        size = np.exp(self.counts @ np.log(np.abs(factors)))
        if np.iscomplexobj(factors):
            return np.asarray(size * np.exp(1j * (self.counts @ np.angle(factors))))
        negative = self.counts[:, factors < 0].sum(axis=1)
        return np.asarray(size * (1 - 2 * (negative % 2)))


# Up to this number of different values, `Groups` counts pairs by value.
_FEW_VALUES: Final = 32
