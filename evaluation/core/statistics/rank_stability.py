"""Comparison of the order of systems under two label sets.

Per-query values of a measure are float64 [n_systems, n_queries], for the same queries in all
systems. Higher values are better. For measures that are better if lower, pass negated values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.agreement import Estimate
from evaluation.core.people.alpha import NO_VARIATION, Interval, check_resampling, percentiles
from evaluation.core.statistics.resampling import check_resamplable, check_values, resampled_means
from evaluation.core.statistics.ties import rank_systems

NOT_TWO_SYSTEMS: Final = "there is only one system"


@dataclass(frozen=True, slots=True)
class SystemRank:
    """A system's rank under two label sets, from 1, the best.

    original, labelled: rank under the first and the second label set. original_interval,
    labelled_interval: best and worst rank of the percentile interval when queries are resampled.
    """

    original: int
    labelled: int
    original_interval: tuple[int, int]
    labelled_interval: tuple[int, int]


@dataclass(frozen=True, slots=True)
class RankStability:
    """Similarity of the rankings of systems under two label sets.

    tau: Kendall's tau-b of the two rankings. interval: its bootstrap interval. same_order: share of
    the resamples in which both rankings are equal. ranks: one row for each system.
    """

    tau: Estimate
    interval: Interval
    same_order: float
    ranks: tuple[SystemRank, ...]


def rank_stability(
    original: npt.ArrayLike,
    labelled: npt.ArrayLike,
    resamples: int = 1000,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: npt.ArrayLike | None = None,
) -> RankStability:
    """Compare the rankings of the same systems under two label sets.

    original, labelled: float64 [n_systems, n_queries], the values of one measure under each label
    set. clusters: whole numbers [n_queries]; queries of a cluster are drawn together. A resample
    draws the same queries for all systems and both label sets. If all systems of a ranking tie in a
    resample, tau is undefined there, and its interval ignores this resample. Raises ValueError for
    the reasons of `significance.measure_difference`, if there are no systems, or if the shapes
    differ.
    """
    check_resampling(resamples, confidence)
    first, second = check_values(original, 2), check_values(labelled, 2)
    if first.shape != second.shape:
        raise ValueError("both label sets must score the same systems on the same queries")
    if len(first) == 0:
        raise ValueError("there are no systems to rank")
    values = np.stack([first, second])
    n_sets, n_systems, n_queries = values.shape
    check_resamplable(n_queries, clusters)
    means = resampled_means(
        values.reshape(-1, n_queries), resamples, rng=rng, clusters=clusters
    ).reshape(n_sets, n_systems, resamples)
    ranks = [rank_systems(mean) for mean in values.mean(axis=2)]
    drawn = [rank_systems(mean) for mean in means]
    tau, interval = _tau_of_both(ranks, drawn, confidence)
    return RankStability(
        tau=tau,
        interval=interval,
        same_order=float((drawn[0] == drawn[1]).all(axis=0).mean()),
        ranks=_rank_rows(ranks, drawn, confidence),
    )


def _rank_rows(
    ranks: list[IntArray], drawn: list[IntArray], confidence: float
) -> tuple[SystemRank, ...]:
    tail = (1 - confidence) / 2
    # This method does not interpolate, so that both ends are ranks that occur.
    bounds = [
        np.quantile(of_set, [tail, 1 - tail], axis=1, method="inverted_cdf").astype(np.int64)
        for of_set in drawn
    ]
    return tuple(
        SystemRank(first, second, (low, high), (other_low, other_high))
        for first, second, (low, high), (other_low, other_high) in zip(
            *(rank.tolist() for rank in ranks),
            *(bound.T.tolist() for bound in bounds),
            strict=True,
        )
    )


def _tau_of_both(
    ranks: list[IntArray], drawn: list[IntArray], confidence: float
) -> tuple[Estimate, Interval]:
    tau = float(_tau_b(ranks[0][:, None], ranks[1][:, None])[0])
    taus = _tau_b(drawn[0], drawn[1])
    defined = taus[~np.isnan(taus)]
    undefined = NO_VARIATION if len(ranks[0]) > 1 else NOT_TWO_SYSTEMS
    estimate = Estimate(None, undefined) if np.isnan(tau) else Estimate(tau)
    return estimate, percentiles(defined, len(taus), confidence, undefined)


def _tau_b(first: IntArray, second: IntArray) -> FloatArray:
    """Return Kendall's tau-b of each column of two rankings [n_systems, B].

    It is NaN if all ranks of at least one of the two rankings tie.

    tau-b is (concordant - discordant pairs) / sqrt(untied pairs of the first * untied pairs of the
    second) (Kendall 1945). This function is for few systems; `slices.kendall_tau_b` is for many
    values.
    """
    agreed, untied, other_untied = np.zeros((3, first.shape[1]))
    for place in range(1, len(first)):
        sign = np.sign(first[place:] - first[place - 1])
        other = np.sign(second[place:] - second[place - 1])
        agreed += (sign * other).sum(axis=0)
        untied += np.abs(sign).sum(axis=0)
        other_untied += np.abs(other).sum(axis=0)
    scale = np.sqrt(untied * other_untied)
    return np.divide(agreed, scale, out=np.full_like(scale, np.nan), where=scale > 0)
