"""Times of resampling, tests and correlations, and of scipy and plain numpy on the same input.

    python -m tests.benchmarks.resampling [--tiny] [--json]

A seeded generator draws the input: 27,763 queries, as in the MSVD test split, and ten times that.
Its values are of three kinds: like C@1, like AP under new labels, and all different. The last kind
is the slowest case. Exact results must equal those of the alternatives, and random ones must be
within the sampling error. The exit code is 1 if one differs. An alternative that would take minutes
or too much memory draws fewer resamples. Its row gives the number, and its ratio is not corrected
for it. scipy always draws as many values as it gets, so for a sub-sample of N values it gets only N
values. The program uses no Django, no database and one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.statistics.randomisation import randomisation_test
from evaluation.core.statistics.rank_stability import rank_stability
from evaluation.core.statistics.resampling import draw_sub_samples, mean_interval
from evaluation.core.statistics.significance import compare_systems, measure_difference
from evaluation.core.statistics.slices import cut_by_quantiles, slice_means
from evaluation.core.statistics.sub_samples import draw_cluster_sub_samples
from tests.benchmarks.report import Report, print_table
from tests.benchmarks.scoring import N_QUERIES, TINY_QUERIES

Values = npt.NDArray[np.float64]

SIZES = (500, 1000, 3000)
RESAMPLES = 10_000
# Limit for the three sizes at 27,763 queries, in milliseconds.
SUB_SAMPLES_MS = 1000
# scipy computes batch x queries values at a time. Without a batch it would need gigabytes.
SCIPY_BATCH = 200


# --- input ----------------------------------------------------------------------------------------


def draw_correct(rng: np.random.Generator, n_queries: int, share: float = 0.6) -> Values:
    """Draw C@1 of a system."""
    return (rng.random(n_queries) < share).astype(np.float64)


def draw_precisions(rng: np.random.Generator, n_queries: int) -> Values:
    """Draw values like AP of a real run under new labels.

    Four fifths of the values are among a hundred frequent ones, most of them 0 or 1. The others are
    nearly all different.
    """
    often = np.concatenate([[0.0, 1.0], rng.random(98)])
    shares = np.concatenate([[0.15, 0.3], np.full(98, 0.55 / 98)])
    values = rng.choice(often, n_queries, p=shares)
    return np.where(rng.random(n_queries) < 0.2, rng.random(n_queries), values)


# --- alternatives ---------------------------------------------------------------------------------


def loop_deviation(values: Values, size: int, resamples: int) -> float:
    """Return the deviation of the means, with a plain loop over the resamples."""
    rng = np.random.default_rng(2)
    means = [values[rng.integers(0, len(values), size)].mean() for _ in range(resamples)]
    return float(np.std(means, ddof=1))


def loop_signs(differences: Values, resamples: int) -> float:
    rng = np.random.default_rng(2)
    observed = abs(differences.sum())
    sums = [differences @ rng.choice([-1.0, 1.0], len(differences)) for _ in range(resamples)]
    return (1 + int(np.sum(np.abs(sums) >= observed))) / (1 + resamples)


def loop_taus(original: Values, labelled: Values, resamples: int, kendalltau: Any) -> list[float]:
    rng = np.random.default_rng(2)
    n_queries = original.shape[1]
    taus = []
    for _ in range(resamples):
        draw = rng.integers(0, n_queries, n_queries)
        before, after = original[:, draw].mean(axis=1), labelled[:, draw].mean(axis=1)
        taus.append(float(kendalltau(before, after).statistic))
    return taus


def scipy_interval(stats: Any, values: Values, resamples: int) -> Any:
    return stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=resamples,
        method="percentile",
        batch=SCIPY_BATCH,
        rng=np.random.default_rng(2),
    )


def scipy_signs(stats: Any, differences: Values, resamples: int) -> float:
    result = stats.permutation_test(
        (differences, np.zeros_like(differences)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=SCIPY_BATCH,
        rng=np.random.default_rng(2),
    )
    return float(result.pvalue)


# --- measurements ---------------------------------------------------------------------------------
# peers: the number of resamples or draws of the slow alternatives.


def fresh(work: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[[], Any]:
    """Return a function that calls `work` with a new random generator each time."""
    return lambda: work(*arguments, rng=np.random.default_rng(1), **options)


def time_sub_samples(report: Report, name: str, values: Values) -> None:
    """Draw 10,000 sub-samples of each of three sizes."""
    group = f"sub-samples of {name}, N = 500, 1,000, 3,000"

    def ours() -> list[float]:
        rng = np.random.default_rng(1)
        return [draw_sub_samples(values, size, RESAMPLES, rng=rng).deviation for size in SIZES]

    clusters = np.arange(len(values)) // 41

    def by_video() -> list[float]:
        rng = np.random.default_rng(1)
        draw = partial(draw_cluster_sub_samples, rng=rng, clusters=clusters)
        return [draw(values[None], size, RESAMPLES)[0].deviation for size in SIZES]

    limit = SUB_SAMPLES_MS if len(values) == N_QUERIES else None
    deviations = report.time(group, f"Hearth, {RESAMPLES:,} resamples", ours, 5, limit)
    report.time(group, f"Hearth, by video, {RESAMPLES:,} resamples", by_video, 5)
    plain = report.time(
        group,
        f"a plain numpy loop, {RESAMPLES:,} resamples",
        lambda: [loop_deviation(values, size, RESAMPLES) for size in SIZES],
        1,
    )
    stats = report.load("scipy.stats")
    if stats is not None:
        report.time(
            group,
            f"scipy.stats.bootstrap, {RESAMPLES:,} resamples",
            lambda: [scipy_interval(stats, values[:size], RESAMPLES) for size in SIZES],
            1,
        )
    for size, deviation, other in zip(SIZES, deviations, plain, strict=True):
        known = float(values.std()) / size**0.5
        report.check(f"{group}, N = {size}", deviation / known, 1.0, 0.035)
        report.check(f"{group}, N = {size}, loop", other / known, 1.0, 0.035)


def time_interval(report: Report, name: str, values: Values, peers: int) -> None:
    group = f"interval of the mean of {name}"
    ours = report.time(
        group, f"Hearth, {RESAMPLES:,} resamples", fresh(mean_interval, values, RESAMPLES), 3
    )
    clusters = np.arange(len(values)) // 41
    report.time(
        group,
        f"Hearth, by video, {RESAMPLES:,} resamples",
        fresh(mean_interval, values, RESAMPLES, clusters=clusters),
        5,
    )
    title = f"a plain numpy loop, {peers:,} resamples"
    report.time(group, title, lambda: loop_deviation(values, len(values), peers), 1)
    stats = report.load("scipy.stats")
    if stats is None:
        return
    title = f"scipy.stats.bootstrap, {peers:,} resamples"
    peer = report.time(group, title, lambda: scipy_interval(stats, values, peers), 1)
    error = float(values.std()) / len(values) ** 0.5
    theirs = peer.confidence_interval
    for side, bound in (("low", theirs.low), ("high", theirs.high)):
        # The standard error of the 2.5 % quantile of 200 draws is a fifth of a standard deviation.
        report.check(f"{group}, {side}", getattr(ours, side), float(bound), error)


def time_tests(report: Report, name: str, differences: Values, peers: int) -> None:
    group = f"randomisation test of {name}"
    test = fresh(randomisation_test, differences, RESAMPLES)
    ours = test()
    kind = "exact" if ours.is_exact else f"{RESAMPLES:,} draws"
    report.time(group, f"Hearth, {kind}", test, 5)
    title = f"a plain numpy loop, {peers:,} draws"
    report.time(group, title, lambda: loop_signs(differences, peers), 1)
    stats = report.load("scipy.stats")
    if stats is None:
        return
    if ours.is_exact:
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        title = "scipy.stats.binomtest, exact"
        exact = report.time(group, title, lambda: stats.binomtest(wins, wins + losses), 3)
        report.check(group, ours.p, float(exact.pvalue), 1e-9)
    title = f"scipy.stats.permutation_test, {peers:,} draws"
    p = report.time(group, title, lambda: scipy_signs(stats, differences, peers), 1)
    report.check(group, ours.p, p, 4 / (4 * peers) ** 0.5)  # at most four standard errors


def time_systems(report: Report, n_queries: int, rng: np.random.Generator) -> None:
    """Compare all pairs of three systems, and their rankings under two label sets."""
    correct = np.stack([draw_correct(rng, n_queries, share) for share in (0.6, 0.59, 0.5)])
    precisions = np.stack([draw_precisions(rng, n_queries) for _ in range(3)])
    group = f"three systems of {n_queries:,} queries"
    work = fresh(compare_systems, correct, RESAMPLES)
    report.time(group, f"Hearth, all pairs by C@1, {RESAMPLES:,} resamples", work, 3)
    work = fresh(compare_systems, precisions, RESAMPLES)
    report.time(group, f"Hearth, all pairs by AP, {RESAMPLES:,} resamples", work, 1)
    difference = precisions[0] - precisions[1]
    work = fresh(measure_difference, difference, RESAMPLES)
    report.time(group, f"Hearth, one pair by AP, {RESAMPLES:,} resamples", work, 1)

    group = f"rankings of three systems, {n_queries:,} queries"
    labelled = np.maximum(correct, (rng.random(correct.shape) < 0.2).astype(np.float64))
    work = fresh(rank_stability, correct, labelled, 1000)
    report.time(group, "Hearth, by C@1, 1,000 resamples", work, 3)
    work = fresh(rank_stability, precisions, np.sqrt(precisions), 1000)
    report.time(group, "Hearth, by AP, 1,000 resamples", work, 3)
    stats = report.load("scipy.stats")
    if stats is not None:
        loop = partial(loop_taus, correct, labelled, 50, stats.kendalltau)
        report.time(group, "a plain numpy loop with scipy.stats.kendalltau, 50 resamples", loop, 1)


def time_slices(report: Report, values: Values, rng: np.random.Generator) -> None:
    words = rng.poisson(7, len(values)).astype(np.float64)
    bins = cut_by_quantiles(words, 6)
    group = f"slices of {len(values):,} queries by caption length"
    work = fresh(slice_means, values, bins.groups, bins.names, RESAMPLES)
    report.time(group, f"Hearth, means and intervals, {RESAMPLES:,} resamples", work, 3)


def measure_all(*, tiny: bool = False) -> Report:
    report = Report(once=tiny)
    size = TINY_QUERIES if tiny else N_QUERIES
    rng = np.random.default_rng(20_261_121)
    for n_queries, peers in ((size, 100),) if tiny else ((size, 1000), (10 * size, 200)):
        correct, other = draw_correct(rng, n_queries), draw_correct(rng, n_queries, 0.605)
        precisions = draw_precisions(rng, n_queries)
        shifted = precisions - np.roll(precisions, 1)
        for name, values, differences in (
            (f"{n_queries:,} C@1", correct, correct - other),
            (f"{n_queries:,} AP", precisions, shifted),
        ):
            time_sub_samples(report, name, values)
            time_interval(report, name, values, peers)
            time_tests(report, name, differences, peers // 5)
        time_interval(report, f"{n_queries:,} distinct values", rng.random(n_queries), peers)
        time_systems(report, n_queries, rng)
        time_slices(report, precisions, rng)
    report.grow(f"{size:,}", f"{10 * size:,}")
    report.notes = list(dict.fromkeys(report.notes))
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description="Times of resampling, and of alternatives.")
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that it runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    report = measure_all(tiny=arguments.tiny)
    if arguments.json:
        print(json.dumps(asdict(report)))
    else:
        print_table(report)
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
