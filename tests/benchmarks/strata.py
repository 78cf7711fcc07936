"""How far xinfAP is off on average, if deep ranks of a pool are judged by a sample.

    python -m tests.benchmarks.strata [--data DIR | --tiny] [--json]

Of the captions, 400 are taken. Their pool is drawn 2,000 times, and each run is scored by the
drawn labels. The bias is the mean of these scores minus AP by all labels. Without --data, the input
is drawn in the shape of the MSVD test split. The program uses no Django and no database.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.relevance.strata import Strata
from pooling.core.pool import NOT_RANKED, pair_codes, ranks_of_pairs, union_codes
from pooling.core.ranked_lists import RankedLists
from pooling.core.strata import Ranks, draw_strata
from tests.benchmarks.replay import DEPTH, Input, draw_input, read_input
from tests.benchmarks.report import Report, print_table, run_program
from tests.benchmarks.scoring import N_QUERIES, N_VIDEOS, TINY_QUERIES

CAPTIONS, DRAWS = 400, 2_000
XINFAP, AP = parse_measure("xinfAP"), parse_measure("AP")
PLANS = {
    "1-3 whole, 4-10 at 20 %": (Ranks(1, 3, 1.0), Ranks(4, 10, 0.2)),
    "1-5 whole, 6-10 at 40 %": (Ranks(1, 5, 1.0), Ranks(6, 10, 0.4)),
}


@dataclass(slots=True)
class StrataReport(Report):
    """bias: by plan and run, the bias of xinfAP, its Monte Carlo error, the spread of one draw, and
    the bias of AP if unjudged pairs count as not relevant; all in points."""

    bias: dict[str, dict[str, list[float]]] = field(default_factory=dict)


def some_captions(data: Input, count: int) -> tuple[dict[str, RankedLists], Judged, Judged]:
    """Return the lists, the labels and the original positives of every k-th caption."""
    n = len(next(iter(data.runs.values())))
    kept = np.linspace(0, n - 1, min(count, n)).astype(int)
    place = np.full(n, -1)
    place[kept] = np.arange(len(kept))
    runs = {
        name: RankedLists.of(ranked.items[kept], N_VIDEOS) for name, ranked in data.runs.items()
    }
    found = []
    for judged in (data.judged, data.original):
        queries, videos = judged.space.decode(judged.codes)
        own = place[queries] >= 0
        codes = place[queries[own]] * N_VIDEOS + videos[own]
        found.append(Judged(codes, judged.gains[own], len(kept), N_VIDEOS))
    return runs, found[0], found[1]


def bias_of(
    runs: dict[str, RankedLists], labels: Judged, original: Judged, ranks: tuple[Ranks, ...], n: int
) -> dict[str, list[float]]:
    pool = union_codes([pair_codes(ranked, DEPTH) for ranked in runs.values()])
    best = np.full(len(pool), NOT_RANKED, np.int32)
    for ranked in runs.values():
        best = np.minimum(best, ranks_of_pairs(ranked, pool))
    every = with_positives(labels, original)
    values: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for seed in range(n):
        strata = draw_strata(pool, best, pool[:0], ranks, labels.space, seed)
        drawn = np.concatenate([stratum.codes[stratum.drawn] for stratum in strata])
        judged = with_positives(labels.only(np.isin(labels.codes, drawn)), original)
        known = Strata.of(strata, original.codes)
        for name, ranked in runs.items():
            scores = score_run(ranked, judged, [XINFAP, AP], strata=known)
            values[name].append(
                (float(scores.per_query(XINFAP).mean()), float(scores.per_query(AP).mean()))
            )
    found = {}
    for name, ranked in runs.items():
        truth = float(score_run(ranked, every, [AP]).per_query(AP).mean())
        sampled, plain = 100 * (np.array(values[name]).T - truth)
        spread = float(sampled.std())
        row = [float(sampled.mean()), spread / n**0.5, spread, float(plain.mean())]
        found[name] = [round(value, 3) for value in row]
    return found


def measure_all(folder: Path | None, *, tiny: bool = False) -> StrataReport:
    report = StrataReport(once=True)
    rng = np.random.default_rng(20_261_128)
    n_queries = TINY_QUERIES if tiny else N_QUERIES
    data = draw_input(rng, n_queries) if folder is None else read_input(folder)
    runs, labels, original = some_captions(data, CAPTIONS)
    draws = 3 if tiny else DRAWS
    for title, ranks in PLANS.items():
        report.bias[title] = report.time(
            "strata", title, lambda ranks=ranks: bias_of(runs, labels, original, ranks, draws), 1
        )
    return report


def show(report: StrataReport) -> None:
    for title, rows in report.bias.items():
        print(f"\n{title}; points of AP")
        print(f"{'':<12}{'bias':>8}{'± 1 MC error':>14}{'one draw':>10}{'AP, unjudged 0':>16}")
        for name, (bias, error, spread, plain) in rows.items():
            print(f"{name:<12}{bias:>8.3f}{error:>14.3f}{spread:>10.2f}{plain:>16.2f}")
    print_table(report)


if __name__ == "__main__":
    sys.exit(run_program("The bias of xinfAP.", measure_all, show))
