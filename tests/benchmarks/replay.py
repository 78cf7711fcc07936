"""Times of replaying pools and of comparing captions, and the smallest sufficient pools.

A replay simulates that a pool is judged pair by pair, in the order of a strategy.

    python -m tests.benchmarks.replay [--data DIR | --tiny] [--json]

Without --data a seeded generator draws input of the same shape as the MSVD test split. With --data
(captions.csv.gz, three runs, judgments_sim.csv.gz) the input is the real one, and results are
compared with the known values. The exit code is 1 if one differs. Train captions are always made
from halves of two test captions. The program uses no Django, no database and one thread.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluation.core.pools.judging_orders import STRATEGIES, pooled_rows
from evaluation.core.pools.leave_out import PooledLabels, gather_pool
from evaluation.core.pools.replay import Replay, replay_seeds
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.texts.similarity import (
    match_captions,
    overlap_with_others,
    overlap_with_train,
    score_matches,
)
from pooling.core.ranked_lists import RankedLists
from tests.benchmarks.report import Report, print_table, run_program
from tests.benchmarks.scoring import (
    N_QUERIES,
    N_VIDEOS,
    TINY_QUERIES,
    judged_of,
    read_data,
    read_rows,
    read_run,
)
from tests.processes import peak_memory

DEPTH, N_TRAINING, ERROR = 10, 48_774, 0.005
SEEDS = 20
RUNS = ("char5-1cap", "lsa-3cap", "tfidf-5cap")
MEASURES = ("C@1", "C@5", "C@10", "AP")
# The smallest share of the MSVD pool for which the error of C@5 is at most ERROR for all systems.
KNOWN = {"depth": 0.5, "uniform": 1.0, "move-to-front": 0.6, "max-mean": 0.8, "thompson": 0.7}


@dataclass(frozen=True, slots=True)
class Input:
    runs: Mapping[str, RankedLists]
    judged: Judged
    original: Judged
    texts: list[str]


@dataclass(slots=True)
class ReplayReport(Report):
    """The times, and other results.

    enough: by measure and strategy, the smallest share of the pool at and above which all errors
    are at most ERROR. matches: threshold, precision, recall and F1 of labels from captions.
    peak_mb: the peak memory of the process.
    """

    enough: dict[str, dict[str, float | None]] = field(default_factory=dict)
    matches: list[list[float]] = field(default_factory=list)
    peak_mb: float = 0.0


# --- input ----------------------------------------------------------------------------------------


def read_input(folder: Path) -> Input:
    _, original, judged, _ = read_data(folder)
    query: dict[str, int] = {}
    video: dict[str, int] = {}
    texts = []
    rows = read_rows(folder / "captions.csv.gz")
    next(rows)
    for caption, text, key in rows:
        if caption not in query:
            query[caption] = len(query)
            texts.append(text)
        video.setdefault(key, len(video))
    runs = {name: read_run(folder / f"{name}.run.gz", query, video, DEPTH) for name in RUNS}
    return Input(runs, judged, original, texts)


def draw_input(rng: np.random.Generator, n_queries: int) -> Input:
    """Draw three systems of different quality.

    A query matches its own video and 1 in 200 others.
    """
    own = np.arange(n_queries) * N_VIDEOS // n_queries
    relevant = rng.random((n_queries, N_VIDEOS), dtype=np.float32) < 0.005
    relevant[np.arange(n_queries), own] = True
    runs = {f"run {strength}": draw_run(rng, relevant, strength) for strength in (1.0, 1.5, 2.5)}
    pooled = np.zeros_like(relevant)
    for ranked in runs.values():
        np.put_along_axis(pooled, ranked.items, True, axis=1)
    queries, videos = np.nonzero(pooled)
    gains = relevant[queries, videos].astype(np.int64)
    judged = judged_of(queries, videos, gains, n_queries)
    original = judged_of(np.arange(n_queries), own, np.ones(n_queries, np.int64), n_queries)
    return Input(runs, judged, original, draw_texts(rng, n_queries))


def draw_run(
    rng: np.random.Generator, relevant: npt.NDArray[np.bool_], strength: float
) -> RankedLists:
    scores = rng.standard_normal(relevant.shape, dtype=np.float32) + strength * relevant
    top = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)
    return RankedLists.of(np.take_along_axis(top, order, axis=1).astype(np.int32), N_VIDEOS)


def draw_texts(rng: np.random.Generator, n_queries: int) -> list[str]:
    """Draw texts of seven words each, from 5,000 words with a Zipf distribution."""
    letters = np.array([*"abcdefghijklmnopqrstuvwxyz"])
    words = ["".join(rng.choice(letters, length)) for length in rng.integers(1, 9, 5_000)]
    numbers = np.minimum(rng.zipf(1.3, (n_queries, 7)), len(words)) - 1
    return [" ".join(words[number] for number in row) for row in numbers.tolist()]


def make_train_captions(texts: list[str], rng: np.random.Generator) -> list[str]:
    words = [text.split() for text in texts]
    n_training = N_TRAINING * len(texts) // N_QUERIES
    pairs = rng.integers(0, len(words), (n_training, 2)).tolist()
    halves = ((words[one], words[other]) for one, other in pairs)
    return [" ".join(one[: len(one) // 2] + other[len(other) // 2 :]) for one, other in halves]


# --- measurements ---------------------------------------------------------------------------------


def time_orders(report: ReplayReport, pool: PooledLabels) -> None:
    group = f"order of {np.count_nonzero(pool.contributed.any(axis=0)):,} pairs"
    for name, strategy in STRATEGIES.items():
        report.time(group, name, lambda order=strategy: order(pool, 1)(np.random.default_rng(1)), 3)
    report.time(group, "max-mean, a loop over queries", lambda: max_mean_by_query(pool), 1)


def max_mean_by_query(pool: PooledLabels) -> list[list[int]]:
    """Return the videos of each query in the order of `order_by_max_mean`, with plain loops."""
    relevant = set(pool.labels.positives()[0].tolist())
    runs = [ranked.items.tolist() for ranked in pool.runs.values()]
    orders = []
    for query in range(pool.labels.n_queries):
        lists = [runs[(query + step) % len(runs)][query] for step in range(len(runs))]
        hits, n_judged, places = [0] * len(lists), [0] * len(lists), [0] * len(lists)
        revealed: dict[int, None] = {}
        while True:
            best, highest = -1, -1.0
            for run, videos in enumerate(lists):
                while places[run] < len(videos) and videos[places[run]] in revealed:
                    places[run] += 1
                mean = (hits[run] + 1) / (n_judged[run] + 2)
                if places[run] < len(videos) and mean > highest:
                    best, highest = run, mean
            if best < 0:
                break
            video = lists[best][places[best]]
            revealed[video] = None
            n_judged[best] += 1
            hits[best] += pool.labels.space.encode(query, video) in relevant
        orders.append([*revealed])
    return orders


def check_orders(report: ReplayReport, pool: PooledLabels) -> None:
    rows = pooled_rows(pool)[np.argsort(STRATEGIES["max-mean"](pool, 1)(np.random.default_rng(1)))]
    orders: list[list[int]] = [[] for _ in range(pool.labels.n_queries)]
    for code in pool.labels.codes[rows].tolist():
        query, video = pool.labels.space.decode(code)
        orders[query].append(video)
    if orders != max_mean_by_query(pool):
        report.failures.append("max-mean: the loop over queries has another order")


def time_replays(report: ReplayReport, pool: PooledLabels) -> None:
    for name in MEASURES:
        work = partial(replay_seeds, pool, parse_measure(name), seeds=1)
        often = partial(replay_seeds, pool, parse_measure(name), seeds=SEEDS)
        replays: tuple[tuple[Replay, ...], ...] = report.time(
            "replay of all strategies", name, lambda run=work: run(rng=np.random.default_rng(1)), 1
        )
        report.time(
            "replay of all strategies",
            f"{name}, {SEEDS} seeds",
            lambda run=often: run(rng=np.random.default_rng(1)),
            1,
        )
        budgets = {replay.strategy: replay.enough(ERROR) for (replay,) in replays}
        report.enough[name] = {
            strategy: None if budget is None else round(budget.share, 4)
            for strategy, budget in budgets.items()
        }


def time_texts(report: ReplayReport, data: Input, rng: np.random.Generator) -> None:
    train = make_train_captions(data.texts, rng)
    n_test = len(data.texts)
    group = f"overlap of {n_test:,} captions"
    name = f"with {len(train):,} train captions"
    report.time(group, name, lambda: overlap_with_train(data.texts, train), 1)
    own_video = np.zeros(n_test, dtype=np.int64)
    query, video = data.original.space.decode(data.original.positives()[0])
    own_video[query] = video
    name = "with the captions of the other videos"
    report.time(group, name, lambda: overlap_with_others(data.texts, own_video), 1)


def time_matches(report: ReplayReport, data: Input) -> None:
    codes = data.judged.codes
    codes = codes[~np.isin(codes, data.original.codes)]
    group = f"labels of {len(codes):,} pairs"
    similarity = report.time(
        group, "from captions", lambda: match_captions(data.texts, data.original, codes), 1
    )
    quality = report.time(group, "scored", lambda: score_matches(codes, similarity, data.judged), 1)
    columns = (quality.thresholds, quality.precision, quality.recall, quality.f1)
    report.matches = [[round(value, 4) for value in row] for row in np.stack(columns, 1).tolist()]


def measure_all(folder: Path | None, *, tiny: bool = False) -> ReplayReport:
    report = ReplayReport()
    rng = np.random.default_rng(20_261_120)
    n_queries = TINY_QUERIES if tiny else N_QUERIES
    data = draw_input(rng, n_queries) if folder is None else read_input(folder)
    pool = gather_pool(data.runs, DEPTH, data.judged, data.original)
    time_orders(report, pool)
    check_orders(report, pool)
    time_replays(report, pool)
    time_texts(report, data, rng)
    time_matches(report, data)
    if folder is not None:
        for strategy, share in KNOWN.items():
            report.check(f"MSVD C@5, {strategy}", report.enough["C@5"][strategy], share, 1e-4)
    report.peak_mb = peak_memory()
    report.notes.append(f"{report.peak_mb:,.0f} MB peak memory, including the input")
    return report


def print_figures(report: ReplayReport) -> None:
    print(
        "\nsmallest share of the pool for which "
        f"all scores are within {100 * ERROR} points of those with all labels"
    )
    print(f"{'':<8}" + "".join(f"{strategy:>15}" for strategy in STRATEGIES))
    for measure, shares in report.enough.items():
        print(f"{measure:<8}" + "".join(f"{share:>15.1%}" for share in shares.values()))
    best = max(report.matches, key=lambda row: row[3])
    for name, row in (("best F1", best), ("equal captions", report.matches[-1])):
        threshold, precision, recall, f1 = row
        print(
            f"labels from captions, {name}: threshold {threshold}, "
            f"precision {precision:.1%}, recall {recall:.1%}, F1 {f1:.1%}"
        )


def show(report: ReplayReport) -> None:
    print_figures(report)
    print_table(report)


if __name__ == "__main__":
    sys.exit(run_program("Times of replaying pools and of comparing captions.", measure_all, show))
