"""The judged share of ranked videos, and the size of pools by depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.core.pools.coverage import cover_ranks, judged_shares, pool_depths
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Run, Score, Shown
from hearth.shared.progress import Progress

JUDGED_AT = (
    "Judged@rank is the judged share of the list down to this rank, as a mean over all "
    "captions. A caption without a list counts as 0. Read a score together with Judged@k, where k "
    "is the number of ranks that the measure uses: Judged@5 for C@5, and Judged@20 for AP of a "
    "run of depth 20."
)
COUNTED = {"pairs": "Pairs", "judged": "Judged", "relevant": "Relevant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    depth: options.Depth = 20


@dataclass(frozen=True, slots=True)
class RankRow:
    """The videos at one rank of a run.

    filled: number of lists with a video at this rank
    share: the judged share of these videos
    """

    run: Run
    rank: Annotated[int, Shown("Rank", "count")]
    filled: Annotated[int, Shown("Lists this long or longer", "count")]
    judged: Annotated[int, Shown("Judged", "count")]
    share: Annotated[Score, Shown("Judged, %", "percent")]
    judged_at: Annotated[float, Shown("Judged@rank, %", "percent")]
    relevant: Annotated[int, Shown("Relevant", "count")]


@dataclass(frozen=True, slots=True)
class PoolRow:
    """The pool of all runs at one depth."""

    depth: Annotated[int, Shown("Depth", "count")]
    pairs: Annotated[int, Shown("Pairs", "count")]
    judged: Annotated[int, Shown("Judged", "count")]
    relevant: Annotated[int, Shown("Relevant", "count")]
    unjudged: Annotated[int, Shown("Unjudged", "count")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    pools: Annotated[list[PoolRow], Tabled("pools", "Pools of all these runs, by depth")]
    ranks: Annotated[list[RankRow], Tabled("ranks", "Each run by rank", JUDGED_AT)]

    def charts(self) -> list[charts.Chart]:
        share = charts.quantity(
            "share", "Judged", axis={"format": charts.PERCENT}, scale={"domain": [0, 1]}
        )
        return [
            charts.Chart(
                "ranks",
                "Judged share at each rank",
                "For each run, a line shows the judged share of the results at each rank. It falls "
                "at ranks that are deeper than the pool.",
                charts.lines(self.ranks, charts.step("rank", "Rank"), share, charts.name_of("run")),
            ),
            charts.Chart(
                "pools",
                "Size of a pool by its depth",
                "Three rising lines over the depth: all pairs, judged pairs, relevant pairs.",
                charts.lines(
                    charts.melt(self.pools, "depth", COUNTED, "count", "of"),
                    charts.step("depth", "Depth"),
                    charts.quantity("count", "Pairs"),
                    charts.name_of("of", order=list(COUNTED.values())),
                ),
            ),
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    runs = {name: ranked.top(options.depth) for name, ranked in inputs.ranked.items()}
    rows: list[RankRow] = []
    for number, (name, ranked) in enumerate(runs.items()):
        progress(number, len(runs) + 1, "looking up labels")
        found = cover_ranks(ranked, inputs.judged)
        upto = judged_shares(ranked, inputs.judged)
        columns = (found.filled, found.judged, found.shares, upto, found.relevant)
        rows += [
            RankRow(name, rank, filled, judged, share if filled else None, judged_at, relevant)
            for rank, (filled, judged, share, judged_at, relevant) in enumerate(
                zip(*(column.tolist() for column in columns), strict=True), start=1
            )
        ]
    progress(len(runs), len(runs) + 1, "pooling")
    depth = max(ranked.depth for ranked in runs.values())
    pools = [
        PoolRow(pool.depth, pool.pairs, pool.judged, pool.relevant, pool.pairs - pool.judged)
        for pool in pool_depths(runs, inputs.judged, max(depth, 1))
    ]
    return Result(pools, rows)


COVERAGE = Analysis(
    name="coverage",
    title="Judged share of ranked lists",
    question="How much of the ranked lists is judged, and how many pairs would a deeper pool add?",
    options=Options,
    result=Result,
    compute=_compute,
    is_directed=True,
    notes=("Original positives count as judged and relevant.",),
)
