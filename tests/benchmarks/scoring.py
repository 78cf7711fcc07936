"""Times of scoring and agreement, and of alternatives on the same input.

    python -m tests.benchmarks.scoring [--data DIR | --tiny] [--json]

Without --data, a seeded generator draws input of the same shape as the MSVD test split. With
--data, the input is the real split from the files captions.csv.gz, tfidf-5cap.run.gz and
judgments_sim.csv.gz in DIR, and the results are compared with the known values. In both cases, the
results are compared with those of the alternatives. The exit code is 1 if a value differs. An
alternative that is not installed is skipped with a note. If a time has a limit, the table shows it
and marks a missed one, but a slow machine does not change the exit code. The program uses no
Django, no database and one thread.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.people.agreement import ValueCounts, count_labels, percent_agreement
from evaluation.core.people.alpha import Interval, alpha_interval, krippendorff_alpha
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import DEFAULT_MEASURES, Measure, parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from tests.benchmarks.report import Report, run_program

IntArray = npt.NDArray[np.int64]

N_QUERIES, N_VIDEOS, N_ANNOTATORS = 27_763, 670, 100
N_PAIRS = 618_309
TINY_QUERIES, TINY_PAIRS = 60, 500
# The measures that the alternatives compute: our names, and those of ir_measures and pytrec_eval.
COMMON = {
    "C@1": ("Success@1", "success_1"),
    "C@5": ("Success@5", "success_5"),
    "C@10": ("Success@10", "success_10"),
    "AP": ("AP", "map"),
    "nDCG": ("nDCG", "ndcg"),
    "RR": ("RR", "recip_rank"),
}
# Limits in milliseconds.
DEPTH_10_MS, DEPTH_100_MS, ALPHA_MS, INTERVAL_MS = 30, 100, 50, 1000
COMMON_MEASURES = tuple(parse_measure(name) for name in COMMON)


@dataclass(frozen=True, slots=True)
class Labels:
    """L labels: their pair numbers, annotators and values, each int64 [L]."""

    pair: IntArray
    annotator: IntArray
    value: IntArray
    n_pairs: int

    def repeat(self, times: int) -> Labels:
        """Return the labels repeated `times` times, each time for other pairs."""
        pair = (self.pair + np.arange(times)[:, None] * self.n_pairs).reshape(-1)
        annotator, value = np.tile(self.annotator, times), np.tile(self.value, times)
        return Labels(pair, annotator, value, self.n_pairs * times)


# --- input ----------------------------------------------------------------------------------------


def draw_scored_run(rng: np.random.Generator, n_queries: int) -> tuple[RankedLists, Judged]:
    """Draw lists of depth 100, and about 22 judged pairs per query, a ninth of them positive."""
    relevant = rng.random((n_queries, N_VIDEOS), dtype=np.float32) < 0.0022
    relevant[np.arange(n_queries), rng.integers(0, N_VIDEOS, n_queries)] = True
    scores = rng.standard_normal((n_queries, N_VIDEOS), dtype=np.float32)
    scores[relevant] += 2.5
    top = np.argpartition(-scores, 100, axis=1)[:, :100]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    ranked = RankedLists.of(np.take_along_axis(top, order, axis=1).astype(np.int32), N_VIDEOS)
    pooled = relevant.copy()
    np.put_along_axis(pooled, ranked.items[:, :22], True, axis=1)
    queries, videos = np.nonzero(pooled)
    gains = relevant[queries, videos].astype(np.int64)
    return ranked, judged_of(queries, videos, gains, n_queries)


def draw_labels(rng: np.random.Generator, n_pairs: int) -> Labels:
    """Draw labels with 3 % errors.

    A tenth of the pairs has a second label, and also a third label if the first two differ.
    """
    truth = rng.random(n_pairs) < 0.1
    answers = truth[:, None] ^ (rng.random((n_pairs, 3)) < 0.03)
    doubled = rng.random(n_pairs) < 0.1
    is_labelled = np.stack(
        [doubled | True, doubled, doubled & (answers[:, 0] != answers[:, 1])], axis=1
    )
    # The annotators of a pair have consecutive numbers, so they are three different people.
    people = (rng.integers(0, N_ANNOTATORS, n_pairs)[:, None] + np.arange(3)) % N_ANNOTATORS
    pair, slot = np.nonzero(is_labelled)
    return Labels(pair, people[pair, slot], answers[pair, slot].astype(np.int64), n_pairs)


def judged_of(
    queries: npt.ArrayLike,
    videos: npt.ArrayLike,
    gains: npt.ArrayLike,
    n_queries: int = N_QUERIES,
) -> Judged:
    return Judged.from_pairs(queries, videos, gains, n_queries=n_queries, n_videos=N_VIDEOS)


def read_rows(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def read_data(folder: Path) -> tuple[RankedLists, Judged, Judged, Labels]:
    """Return the run of depth 20, the original positives, the majority labels and all labels."""
    query: dict[str, int] = {}
    video: dict[str, int] = {}
    rows = read_rows(folder / "captions.csv.gz")
    next(rows)
    pairs = [(query.setdefault(c, len(query)), video.setdefault(v, len(video))) for c, _, v in rows]
    original = judged_of([q for q, _ in pairs], [v for _, v in pairs], [1] * len(pairs))

    ranked = read_run(folder / "tfidf-5cap.run.gz", query, video, 20)
    person: dict[str, int] = {}
    rows = read_rows(folder / "judgments_sim.csv.gz")
    next(rows)
    table = np.array(
        [(query[c], video[v], person.setdefault(a, len(person)), int(x)) for c, v, a, x in rows]
    )
    codes = table[:, 0] * N_VIDEOS + table[:, 1]
    distinct, pair = np.unique(codes, return_inverse=True)
    labels = Labels(pair, table[:, 2], table[:, 3], len(distinct))
    positive = np.bincount(pair, weights=table[:, 3]) * 2 > np.bincount(pair)
    judged = judged_of(distinct // N_VIDEOS, distinct % N_VIDEOS, positive.astype(np.int64))
    return ranked, original, judged, labels


def read_run(
    path: Path, query: Mapping[str, int], video: Mapping[str, int], depth: int
) -> RankedLists:
    ranked = np.full((len(query), depth), -1, dtype=np.int32)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            caption, _, key, rank, _, _ = line.split()
            if int(rank) <= depth:
                ranked[query[caption], int(rank) - 1] = video[key]
    return RankedLists.of(ranked, N_VIDEOS)


def repeat_benchmark(ranked: RankedLists, judged: Judged, times: int) -> tuple[RankedLists, Judged]:
    """Repeat all captions `times` times, as further queries for the same videos."""
    shift = np.arange(times)[:, None] * judged.space.n_pairs
    codes = (judged.codes + shift).reshape(-1)
    gains = np.tile(judged.gains, times)
    more = Judged(codes, gains, judged.n_queries * times, judged.n_videos)
    return RankedLists.of(np.tile(ranked.items, (times, 1)), N_VIDEOS), more


# --- alternatives ---------------------------------------------------------------------------------


def positives_by_query(judged: Judged) -> dict[str, dict[str, int]]:
    codes, gains = judged.positives()
    qrels: dict[str, dict[str, int]] = {}
    for code, gain in zip(codes.tolist(), gains.tolist(), strict=True):
        query, video = judged.space.decode(code)
        qrels.setdefault(str(query), {})[str(video)] = gain
    return qrels


def run_by_query(ranked: RankedLists) -> dict[str, dict[str, float]]:
    keys = [str(video) for video in range(ranked.n_items)]
    scores = [-float(rank) for rank in range(ranked.depth)]
    return {
        str(query): dict(zip((keys[video] for video in row), scores, strict=True))
        for query, row in enumerate(ranked.items.tolist())
    }


def score_by_sets(run: list[list[int]], positives: list[set[int]]) -> dict[str, float]:
    """Return means of `score_query` over the queries.

    The function uses one dictionary per query, like the published FIRE code, but is not a copy of
    it.
    """
    rows = [score_query(videos, own) for videos, own in zip(run, positives, strict=True)]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def score_query(videos: list[int], positives: set[int]) -> dict[str, float]:
    """Return C@k, P@k, R@k and AP(found) of one query, with np.mean over lists of hits."""
    hits = [video in positives for video in videos]
    precisions = [np.mean(hits[:rank]) for rank, hit in enumerate(hits, start=1) if hit]
    row = {"AP(found)": float(np.mean(precisions)) if precisions else 0.0}
    for k in (1, 5, 10):
        row[f"C@{k}"] = float(any(hits[:k]))
        row[f"P@{k}"] = float(np.mean(hits[:k]))
        row[f"R@{k}"] = sum(hits[:k]) / len(positives) if positives else 0.0
    return row


# --- measurements ---------------------------------------------------------------------------------


def time_scoring(
    report: Report,
    ranked: RankedLists,
    judged: Judged,
    repeats: int,
    limit: float | None = None,
) -> None:
    """Time the scoring of one run by Hearth and the alternatives.

    Each alternative runs `repeats` times. With 0, only Hearth runs.
    """
    group = f"{len(ranked):,} x {ranked.depth}"
    ranked = replace(ranked, items=np.ascontiguousarray(ranked.items))
    score_run(ranked, judged, DEFAULT_MEASURES)
    name = f"Hearth, all {len(DEFAULT_MEASURES)} measures"
    report.time(group, name, lambda: score_run(ranked, judged, DEFAULT_MEASURES), 7, limit)
    name = f"Hearth, the {len(COMMON)} measures of the alternatives"
    report.time(group, name, lambda: score_run(ranked, judged, COMMON_MEASURES), 7)
    measures = (*DEFAULT_MEASURES, *COMMON_MEASURES)
    ours = score_run(ranked, judged, measures)
    means = {str(measure): ours.mean(measure).value or 0.0 for measure in measures}
    for peer in (time_pytrec_eval, time_ir_measures, time_sets) if repeats else ():
        for measure, value in peer(report, group, ranked, judged, repeats).items():
            report.check(f"{group}, {peer.__name__[5:]}, {measure}", value, means[measure], 1e-9)


def time_pytrec_eval(
    report: Report, group: str, ranked: RankedLists, judged: Judged, repeats: int
) -> dict[str, float]:
    package = report.load("pytrec_eval")
    if package is None:
        return {}
    names = {ours: theirs for ours, (_, theirs) in COMMON.items()}
    qrels, run = positives_by_query(judged), run_by_query(ranked)

    def evaluate(run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> Any:
        return package.RelevanceEvaluator(qrels, set(names.values())).evaluate(run)

    answers = report.time(
        group,
        "pytrec_eval, without the time to build dictionaries",
        lambda: evaluate(run, qrels),
        repeats,
    )
    with_dictionaries = "pytrec_eval, with the time to build dictionaries"
    report.time(
        group,
        with_dictionaries,
        lambda: evaluate(run_by_query(ranked), positives_by_query(judged)),
        repeats,
    )
    sums = {ours: sum(row[theirs] for row in answers.values()) for ours, theirs in names.items()}
    return {ours: total / len(ranked) for ours, total in sums.items()}


def time_ir_measures(
    report: Report, group: str, ranked: RankedLists, judged: Judged, repeats: int
) -> dict[str, float]:
    package = report.load("ir_measures")
    if package is None:
        return {}
    peers = {ours: package.parse_measure(theirs) for ours, (theirs, _) in COMMON.items()}
    qrels, run = positives_by_query(judged), run_by_query(ranked)
    means = report.time(
        group,
        "ir_measures, without the time to build dictionaries",
        lambda: package.calc_aggregate(peers.values(), qrels, run),
        repeats,
    )
    return {ours: float(means[peer]) for ours, peer in peers.items()}


def time_sets(
    report: Report, group: str, ranked: RankedLists, judged: Judged, repeats: int
) -> dict[str, float]:
    run = ranked.items.tolist()
    positives: list[set[int]] = [set() for _ in run]
    for code in judged.positives()[0].tolist():
        query, video = judged.space.decode(code)
        positives[query].add(video)
    name = "a dictionary per query, as in the FIRE code"
    scores: dict[str, float] = report.time(
        group, name, lambda: score_by_sets(run, positives), repeats
    )
    return scores


def time_agreement(report: Report, labels: Labels, *, peers: bool = True) -> ValueCounts:
    group = f"alpha of {len(labels.pair):,} labels"
    counts = count_labels(labels.pair, labels.value, labels.n_pairs)
    name = "Hearth, from value counts"
    limit = ALPHA_MS if peers else None
    alpha = report.time(group, name, lambda: krippendorff_alpha(counts), 7, limit).value
    report.time(
        group,
        "Hearth, counting the labels",
        lambda: count_labels(labels.pair, labels.value, labels.n_pairs),
        5,
    )
    package = report.load("krippendorff") if peers else None
    if package is None:
        return counts
    table = np.zeros((labels.n_pairs, 2), dtype=np.int64)
    np.add.at(table, (labels.pair, labels.value), 1)
    matrix = np.full((N_ANNOTATORS, labels.n_pairs), np.nan)
    matrix[labels.annotator, labels.pair] = labels.value
    name = "krippendorff, value counts of all pairs"
    nominal = partial(package.alpha, level_of_measurement="nominal")
    value = report.time(group, name, partial(nominal, value_counts=table), 3)
    report.check(name, value, alpha, 1e-12)
    name = "krippendorff, matrix of annotators x pairs"
    value = report.time(group, name, partial(nominal, reliability_data=matrix), 1)
    report.check(name, value, alpha, 1e-12)
    return counts


def time_interval(report: Report, counts: ValueCounts) -> None:
    group = "bootstrap interval of alpha"

    def estimate(resamples: int) -> Interval:
        return alpha_interval(counts, resamples, rng=np.random.default_rng(1))

    for resamples, limit in ((1_000, None), (10_000, INTERVAL_MS)):
        work = partial(estimate, resamples)
        report.time(group, f"Hearth, {resamples:,} resamples", work, 7, limit)
    package = report.load("krippendorff")
    if package is None:
        return
    several = counts.multiply_labelled()
    items = np.repeat(several.patterns, several.weights, axis=0)
    rng = np.random.default_rng(1)

    def resample_pairs() -> list[float]:
        draws = (rng.integers(0, len(items), len(items)) for _ in range(100))
        return [
            package.alpha(value_counts=items[draw], level_of_measurement="nominal")
            for draw in draws
        ]

    report.time(group, "krippendorff, pairs drawn, 100 resamples", resample_pairs, 1)


def check_figures(
    report: Report, ranked: RankedLists, original: Judged, judged: Judged, counts: ValueCounts
) -> None:
    """Compare the results for the MSVD data with the known values, which have six digits."""
    expected = {
        "C@1": (0.454526, 0.596081),
        "C@5": (0.700321, 0.807586),
        "C@10": (0.778374, 0.869467),
        "AP": (0.562631, 0.560050),
        "AP(found)": (0.562631, 0.627022),
    }
    labelled = with_positives(judged, original)
    for place, (kind, labels) in enumerate((("original", original), ("labelled", labelled))):
        measures: list[Measure] = [parse_measure(name) for name in expected]
        scores = score_run(ranked, labels, measures)
        for measure in measures:
            known = expected[str(measure)][place]
            report.check(f"MSVD {kind} {measure}", scores.mean(measure).value, known, 5.001e-7)
    report.check("MSVD multiply labelled", counts.n_multiply_labelled, 62_036, 0)
    report.check("MSVD agreement", percent_agreement(counts).value, 0.954381, 5.001e-7)
    report.check("MSVD alpha", krippendorff_alpha(counts).value, 0.764355, 5.001e-7)
    if not report.failures:
        report.notes.append("the known values for MSVD are reproduced")


def measure_all(data: Path | None, *, tiny: bool = False) -> Report:
    report = Report()
    rng = np.random.default_rng(20_261_120)
    n_queries = TINY_QUERIES if tiny else N_QUERIES
    deep, drawn = draw_scored_run(rng, n_queries)
    if data is None:
        ranked, judged = deep.top(20), drawn
        labels = draw_labels(rng, TINY_PAIRS if tiny else N_PAIRS)
    else:
        ranked, original, majority, labels = read_data(data)
        judged = with_positives(majority, original)
        report.notes.append("the input of depth 100 is drawn, the other input is real")
    time_scoring(report, ranked.top(10), judged, 3, DEPTH_10_MS)
    time_scoring(report, ranked, judged, 3)
    time_scoring(report, deep, drawn, 1, DEPTH_100_MS)
    time_scoring(report, *repeat_benchmark(ranked.top(10), judged, 10), 1)
    # For these 28 million predictions, the alternatives would need gigabytes of dictionaries.
    time_scoring(report, *repeat_benchmark(deep, drawn, 10), 0)
    report.grow(f"{n_queries:,} x", f"{10 * n_queries:,} x")
    counts = time_agreement(report, labels)
    time_agreement(report, labels.repeat(10), peers=False)
    report.grow(f"{len(labels.pair):,}", f"{10 * len(labels.pair):,}")
    time_interval(report, counts)
    if data is not None:
        check_figures(report, ranked, original, majority, counts)
    report.notes = list(dict.fromkeys(report.notes))
    return report


if __name__ == "__main__":
    sys.exit(run_program("Times of scoring and agreement, and of alternatives.", measure_all))
