"""Times of the functions that compare lists and label sets, and of alternatives.

    python -m tests.benchmarks.lists [--data DIR | --tiny] [--json]

The functions are the overlap of runs, leaving systems out of the pool, bounds and estimates. The
input is three runs of the size of the MSVD test split, and then the same with ten times the
captions. Without --data, a seeded generator draws the input. With --data, the input is the real
split (captions.csv.gz, three runs, judgments_sim.csv.gz), and results are compared with the known
values. The exit code is 1 if a value differs from the known one or from that of an alternative. An
alternative that is not installed is skipped with a note. The program uses no Django, no database
and one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.pools.bounds import bound_scores
from evaluation.core.pools.expectations import check_expectations, expect_scores, pool_chances
from evaluation.core.pools.incomplete import bpref, condense, inferred_ap
from evaluation.core.pools.leave_out import PooledLabels, gather_pool, grow_pool, leave_one_out
from evaluation.core.pools.overlap import compare_all_runs, compare_runs
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import DEFAULT_MEASURES, Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from tests.benchmarks.report import Report, run_program
from tests.benchmarks.scoring import (
    N_QUERIES,
    N_VIDEOS,
    TINY_QUERIES,
    judged_of,
    read_data,
    read_rows,
    read_run,
    repeat_benchmark,
    run_by_query,
)

DEPTH, PERSISTENCE = 10, 0.9
# Limits for the smaller size, in milliseconds.
OVERLAP_MS, LEAVE_OUT_MS = 50, 1000
SYSTEMS = ("tfidf-5cap", "lsa-3cap", "char5-1cap")


def parse(text: str) -> tuple[Measure, ...]:
    return tuple(parse_measure(name) for name in text.split())


MEASURES = parse("C@1 C@5 C@10 AP")
MONOTONE = parse("C@1 C@5 C@10 P@10 RR MedR Judged@10")


@dataclass(frozen=True, slots=True)
class Input:
    """Runs of one depth, the judged pairs, and the original positives."""

    runs: Mapping[str, RankedLists]
    judged: Judged
    original: Judged

    @property
    def size(self) -> str:
        first = next(iter(self.runs.values()))
        n_queries, depth = len(first), first.depth
        return f"{n_queries:,} x {depth}"

    def repeat(self, times: int) -> Input:
        runs = {
            system: repeat_benchmark(ranked, self.judged, times)[0]
            for system, ranked in self.runs.items()
        }
        first = next(iter(self.runs.values()))
        judged, original = (
            repeat_benchmark(first, labels, times)[1] for labels in (self.judged, self.original)
        )
        return Input(runs, judged, original)


# --- input ----------------------------------------------------------------------------------------


def draw_input(rng: np.random.Generator, n_queries: int) -> Input:
    """Draw three similar runs. Their top ten are judged, which is about 22 pairs per query."""
    relevant = rng.random((n_queries, N_VIDEOS), dtype=np.float32) < 0.0022
    source = rng.integers(0, N_VIDEOS, n_queries)
    relevant[np.arange(n_queries), source] = True
    common = rng.standard_normal((n_queries, N_VIDEOS), dtype=np.float32)
    common[relevant] += 2.5
    pooled = np.zeros_like(relevant)
    runs = {}
    for system in SYSTEMS:
        scores = common + rng.standard_normal((n_queries, N_VIDEOS), dtype=np.float32)
        top = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH]
        order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
        runs[system] = RankedLists.of(
            np.take_along_axis(top, order, axis=1).astype(np.int32), N_VIDEOS
        )
        np.put_along_axis(pooled, runs[system].items, True, axis=1)
    queries, videos = np.nonzero(pooled)
    gains = relevant[queries, videos].astype(np.int64)
    judged = judged_of(queries, videos, gains, n_queries)
    original = judged_of(np.arange(n_queries), source, np.ones(n_queries, np.int64), n_queries)
    return Input(runs, judged, original)


def read_input(folder: Path) -> Input:
    _, original, judged, _ = read_data(folder)
    query: dict[str, int] = {}
    video: dict[str, int] = {}
    rows = read_rows(folder / "captions.csv.gz")
    next(rows)
    for caption, _, key in rows:
        query.setdefault(caption, len(query))
        video.setdefault(key, len(video))
    runs = {name: read_run(folder / f"{name}.run.gz", query, video, DEPTH) for name in SYSTEMS}
    return Input(runs, judged, original)


# --- alternatives ---------------------------------------------------------------------------------


def extrapolate(first: list[int], second: list[int], p: float) -> float:
    """Return RBO_EXT of two lists of equal length, with two sets as in the `rbo` package."""
    seen_first: set[int] = set()
    seen_second: set[int] = set()
    common, total, agreement = 0, 0.0, 0.0
    for depth, (one, other) in enumerate(zip(first, second, strict=True), start=1):
        if one == other:
            common += 1
        else:
            common += (one in seen_second) + (other in seen_first)
        seen_first.add(one)
        seen_second.add(other)
        agreement = common / depth
        total += (1 - p) * p ** (depth - 1) * agreement
    return total + agreement * p ** len(first)


def extrapolate_all(first: RankedLists, second: RankedLists) -> float:
    rows = zip(first.items.tolist(), second.items.tolist(), strict=True)
    return float(np.mean([extrapolate(one, other, PERSISTENCE) for one, other in rows]))


def extrapolate_by_package(package: Any, first: RankedLists, second: RankedLists) -> float:
    rows = zip(first.items.tolist(), second.items.tolist(), strict=True)
    values = [package.RankingSimilarity(one, two).rbo_ext(p=PERSISTENCE) for one, two in rows]
    return float(np.mean(values))


def intersect_all(first: RankedLists, second: RankedLists) -> float:
    rows = zip(first.items.tolist(), second.items.tolist(), strict=True)
    return float(np.mean([len(set(one) & set(other)) / len(one) for one, other in rows]))


def leave_out_by_sets(data: Input) -> dict[str, float]:
    """Return C@10 of each system without the pairs that only this system contributed."""
    pairs = {
        system: {(query, video) for query, row in enumerate(ranked.items.tolist()) for video in row}
        for system, ranked in data.runs.items()
    }
    original = set(data.original.codes.tolist())
    positives = set(data.judged.positives()[0].tolist())
    means = {}
    for system, contributed in pairs.items():
        others = set().union(*(pairs[other] for other in pairs if other != system))
        unique = {query * N_VIDEOS + video for query, video in contributed - others}
        relevant = (positives - unique) | original
        correct = {query for query, video in contributed if query * N_VIDEOS + video in relevant}
        means[system] = len(correct) / data.judged.n_queries
    return means


# --- measurements ---------------------------------------------------------------------------------
# peers: whether the alternatives are measured, too.


def time_overlap(report: Report, data: Input, peers: bool) -> None:
    group = f"overlap of two runs, {data.size}"
    first, second, _ = data.runs.values()
    limit = OVERLAP_MS if peers else None
    name = "Hearth, overlap and RBO"
    result = report.time(group, name, lambda: compare_runs(first, second), 7, limit)
    report.time(group, "Hearth, three pairs of runs", lambda: compare_all_runs(data.runs), 7)
    if not peers:
        return
    name = "sets in plain Python, overlap"
    value = report.time(group, name, lambda: intersect_all(first, second), 3)
    report.check(name, value, result.common.mean(), 1e-9)
    name = "sets in plain Python, RBO"
    value = report.time(group, name, lambda: extrapolate_all(first, second), 3)
    report.check(name, value, result.extrapolated.mean(), 1e-9)
    package = report.load("rbo")
    if package is not None:
        work = partial(extrapolate_by_package, package, first, second)
        report.check("rbo", report.time(group, "rbo, RBO", work, 1), value, 1e-9)


def time_leave_out(report: Report, data: Input, peers: bool) -> None:
    group = f"three systems left out, {data.size}"

    def gather() -> PooledLabels:
        return gather_pool(data.runs, DEPTH, data.judged, data.original)

    def leave_out() -> dict[str, float]:
        rows = leave_one_out(gather(), MEASURES)
        return {row.system: row.without.per_query(MEASURES[2]).mean() for row in rows}

    limit = LEAVE_OUT_MS if peers else None
    ours = report.time(group, "Hearth, C@1 C@5 C@10 AP", leave_out, 5, limit)
    pool = report.time(group, "Hearth, only gathering the pool", gather, 5)
    grow = partial(grow_pool, pool, MEASURES)
    name = "Hearth, all smaller pools"
    report.time(group, name, lambda: grow(rng=np.random.default_rng(1)), 3)
    if peers:
        name = "sets in plain Python, only C@10"
        means = report.time(group, name, lambda: leave_out_by_sets(data), 1)
        for system, mean in means.items():
            report.check(f"{name}, {system}", mean, ours[system], 1e-9)


def time_gaps(report: Report, data: Input, peers: bool) -> None:
    """Time the scoring of one system without the labels of the pairs that only it contributed."""
    group = f"one system that was not pooled, {data.size}"
    pool = gather_pool(data.runs, DEPTH, data.judged, data.original)
    ranked, others = pool.runs[SYSTEMS[1]], pool.without(SYSTEMS[1])
    labels, chances = others.labels, pool_chances(others)

    def bound(measures: tuple[Measure, ...]) -> Any:
        return bound_scores(ranked, labels, measures)

    def expect(text: str) -> Any:
        return expect_scores(ranked, labels, chances, parse(text))

    works = {
        "Hearth, C@1 C@5 C@10 AP with unjudged pairs": lambda: score_run(ranked, labels, MEASURES),
        "Hearth, bounds of monotone measures": lambda: bound(MONOTONE),
        "Hearth, bounds of C@1 C@5 C@10 AP": lambda: bound(MEASURES),
        "Hearth, bounds of all measures": lambda: bound(DEFAULT_MEASURES),
        "Hearth, condensed lists": lambda: condense(ranked, labels),
        "Hearth, chances from the pool": lambda: pool_chances(others),
        "Hearth, expected C@1 C@5 C@10 P@10": lambda: expect("C@1 C@5 C@10 P@10"),
        "Hearth, expected AP": lambda: expect("AP"),
        "Hearth, bpref": lambda: bpref(ranked, labels),
        "Hearth, infAP": lambda: inferred_ap(ranked, labels, DEPTH),
    }
    ours = {name: report.time(group, name, work, 3) for name, work in works.items()}
    if peers:
        time_pytrec_eval(report, group, ranked, labels, ours)


def time_pytrec_eval(
    report: Report, group: str, ranked: RankedLists, labels: Judged, ours: Mapping[str, Any]
) -> None:
    package = report.load("pytrec_eval")
    if package is None:
        return
    run = run_by_query(ranked)
    # In trec_eval, a label of -1 marks a pooled pair that is unjudged.
    qrels = {query: dict.fromkeys(videos, -1) for query, videos in run.items()}
    for code, gain in zip(labels.codes.tolist(), labels.gains.tolist(), strict=True):
        query, video = labels.space.decode(code)
        qrels[str(query)][str(video)] = gain
    for name in ("bpref", "infAP"):
        evaluate = package.RelevanceEvaluator(qrels, {name}).evaluate
        answers = report.time(group, f"pytrec_eval, {name}", partial(evaluate, run), 1)
        mean = float(np.mean([answer[name] for answer in answers.values()]))
        report.check(f"pytrec_eval, {name}", mean, ours[f"Hearth, {name}"].mean(), 1e-9)


# --- known values ----------------------------------------------------------------------------

# Common share and RBO of each pair of runs. Then C@1, C@5, C@10 and AP of the top ten, with all
# labels, and with the system left out of the pool.
KNOWN_OVERLAP = [(0.394313, 0.349105), (0.308313, 0.295747), (0.248990, 0.223454)]
KNOWN_SCORES = {
    "tfidf-5cap": (
        (0.596081, 0.807586, 0.869467, 0.547373),
        (0.573497, 0.781940, 0.838454, 0.538290),
    ),
    "lsa-3cap": (
        (0.364010, 0.621295, 0.729784, 0.355625),
        (0.344919, 0.587184, 0.681591, 0.344265),
    ),
    "char5-1cap": (
        (0.372006, 0.612182, 0.717033, 0.340658),
        (0.349674, 0.574434, 0.662284, 0.328372),
    ),
}


def check_figures(report: Report, data: Input) -> None:
    for pair, (common, rbo) in zip(compare_all_runs(data.runs), KNOWN_OVERLAP, strict=True):
        report.check(f"common, {pair.first}, {pair.second}", pair.common.value, common, 5.001e-7)
        report.check(f"RBO, {pair.first}, {pair.second}", pair.extrapolated.value, rbo, 5.001e-7)
    pool = gather_pool(data.runs, DEPTH, data.judged, data.original)
    for row in leave_one_out(pool, MEASURES):
        for scores, known in zip(
            (row.with_all, row.without), KNOWN_SCORES[row.system], strict=True
        ):
            for measure, value in zip(MEASURES, known, strict=True):
                name = f"{row.system} {measure}"
                report.check(name, scores.mean(measure).value, value, 5.001e-7)
    if not report.failures:
        report.notes.append("the known values for MSVD are reproduced")


def note_estimates(report: Report, data: Input) -> None:
    """Note the errors of the scores of each left-out system, before and after the estimation."""
    pool = gather_pool(data.runs, DEPTH, data.judged, data.original)
    for check in check_expectations(pool, parse("C@1 C@5 C@10 P@10 AP RR")):
        steps = []
        for measure, truth in check.truth.items():
            known, expected = (
                100 * (side[measure].value - truth.value) for side in (check.known, check.expected)
            )
            steps.append(f"{measure} {known:+.1f} -> {expected:+.1f}")
        report.notes.append(
            f"{check.system} left out, error in points -> error after the estimation: "
            f"{', '.join(steps)}"
        )


def measure_all(folder: Path | None, *, tiny: bool = False) -> Report:
    report = Report()
    n_queries = TINY_QUERIES if tiny else N_QUERIES
    rng = np.random.default_rng(20_261_121)
    data = draw_input(rng, n_queries) if folder is None else read_input(folder)
    larger = data.repeat(10)
    for time_group in (time_overlap, time_leave_out, time_gaps):
        time_group(report, data, True)
        time_group(report, larger, False)
    report.grow(f"{n_queries:,} x", f"{10 * n_queries:,} x")
    note_estimates(report, data)
    if folder is not None:
        check_figures(report, data)
    report.notes = list(dict.fromkeys(report.notes))
    return report


if __name__ == "__main__":
    sys.exit(run_program("Times of the functions that compare lists and label sets.", measure_all))
