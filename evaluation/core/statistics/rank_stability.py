"""Whether the labels change the order of the systems.

Per-query values of a measure are float64 [n_systems, n_queries]; all systems answered the same
queries. Higher is better: negate ranks before comparing them.
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

NOT_TWO_SYSTEMS: Final = "a single system has no rival"


@dataclass(frozen=True, slots=True)
class SystemRank:
    """A system's rank, 1 is best, under two label sets, and between which ranks it falls when the
    queries are resampled (low, high; both reached)."""

    original: int
    labelled: int
    original_interval: tuple[int, int]
    labelled_interval: tuple[int, int]


@dataclass(frozen=True, slots=True)
class RankStability:
    """How alike two label sets rank the systems.

    tau: Kendall's tau-b of the two rankings, with its bootstrap interval. same_order: share of the
    resamples in which both rank all systems alike. ranks: one row for each system.
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

    original, labelled: values [n_systems, n_queries] of one measure under each. In a resample the
    same queries are drawn for all systems and both label sets. Resamples in which all systems of a
    ranking tie have no tau; its interval leaves them out. Raises ValueError as
    `significance.measure_difference` does, for no systems, and if the two differ in shape.
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
    # A rank that was drawn, and nothing between two ranks.
    bounds = [
        np.quantile(kind, [tail, 1 - tail], axis=1, method="inverted_cdf").astype(np.int64)
        for kind in drawn
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
    known = taus[~np.isnan(taus)]
    undefined = NO_VARIATION if len(ranks[0]) > 1 else NOT_TWO_SYSTEMS
    estimate = Estimate(None, undefined) if np.isnan(tau) else Estimate(tau)
    return estimate, percentiles(known, len(taus), confidence, undefined)


def _tau_b(first: IntArray, second: IntArray) -> FloatArray:
    """Kendall's tau-b of two rankings [n_systems, B] in each column, NaN where all tie.

    (concordant - discordant pairs) / sqrt(pairs untied in the one * pairs untied in the other)
    (Kendall 1945). For a handful of systems; `slices.kendall_tau_b` is for many values.
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
