"""The judged share of ranked videos, and the size of pools by depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from evaluation.core.pools.coverage import PoolDepth, cover_ranks, judged_shares, pool_depths
from evaluation.lab.analyses.charts import LINES, PERCENT, Chart, name_of, quantity, spec, step
from evaluation.lab.analyses.fields import depth_field
from evaluation.lab.analyses.forms import DirectedForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import Row
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.progress import Progress

JUDGED_AT = (
    "Judged@rank is the judged share of the list down to this rank, as a mean over all "
    "captions. A caption without a list counts as 0. Read a score together with Judged@k, where k "
    "is the number of ranks that the measure uses: Judged@5 for C@5, and Judged@20 for AP of a "
    "run of depth 20."
)
COUNTED = {"pairs": "Pairs", "judged": "Judged", "relevant": "Relevant"}


class RankRow(TypedDict):
    """The videos at one rank of a run.

    filled: number of lists with a video at this rank. share: the judged share of these videos.
    judged_at: Judged@rank.
    """

    run: str
    rank: int
    filled: int
    judged: int
    relevant: int
    share: float | None
    judged_at: float


class PoolRow(TypedDict):
    """The pool of all runs at one depth."""

    depth: int
    pairs: int
    judged: int
    relevant: int
    unjudged: int


class CoverageResult(TypedDict):
    ranks: list[RankRow]
    pools: list[PoolRow]


class CoverageForm(DirectedForm):
    depth = depth_field(20)


class CoverageOptions(TypedDict):
    depth: int


def _compute(inputs: Inputs, options: CoverageOptions, progress: Progress) -> CoverageResult:
    runs = {name: ranked.top(options["depth"]) for name, ranked in inputs.ranked.items()}
    rows: list[RankRow] = []
    for number, (name, ranked) in enumerate(runs.items()):
        progress(number, len(runs) + 1, "looking up labels")
        found = cover_ranks(ranked, inputs.judged)
        upto = judged_shares(ranked, inputs.judged)
        columns = (found.filled, found.judged, found.relevant, found.shares, upto)
        rows += [
            {
                "run": name,
                "rank": rank,
                "filled": filled,
                "judged": judged,
                "relevant": relevant,
                "share": share if filled else None,
                "judged_at": judged_at,
            }
            for rank, (filled, judged, relevant, share, judged_at) in enumerate(
                zip(*(column.tolist() for column in columns), strict=True), start=1
            )
        ]
    progress(len(runs), len(runs) + 1, "pooling")
    depth = max(ranked.depth for ranked in runs.values())
    pools = pool_depths(runs, inputs.judged, max(depth, 1))
    return {"ranks": rows, "pools": [_pool_row(pool) for pool in pools]}


def _pool_row(pool: PoolDepth) -> PoolRow:
    return {
        "depth": pool.depth,
        "pairs": pool.pairs,
        "judged": pool.judged,
        "relevant": pool.relevant,
        "unjudged": pool.pairs - pool.judged,
    }


def _tables(result: CoverageResult) -> list[Table]:
    return [
        Table(
            "pools",
            "Pools of all these runs, by depth",
            [
                Column("depth", "Depth", "count"),
                Column("pairs", "Pairs", "count"),
                Column("judged", "Judged", "count"),
                Column("relevant", "Relevant", "count"),
                Column("unjudged", "Unjudged", "count"),
            ],
            result["pools"],
        ),
        Table(
            "ranks",
            "Each run by rank",
            [
                Column("run", "Run"),
                Column("rank", "Rank", "count"),
                Column("filled", "Lists this long or longer", "count"),
                Column("judged", "Judged", "count"),
                Column("share", "Judged, %", "percent"),
                Column("judged_at", "Judged@rank, %", "percent"),
                Column("relevant", "Relevant", "count"),
            ],
            result["ranks"],
            note=JUDGED_AT,
        ),
    ]


def _charts(result: CoverageResult) -> list[Chart]:
    by_depth: Sequence[Row] = result["pools"]
    pools = [
        {"depth": pool["depth"], "count": pool[key], "of": title}
        for pool in by_depth
        for key, title in COUNTED.items()
    ]
    share = quantity("share", "Judged", axis={"format": PERCENT}, scale={"domain": [0, 1]})
    return [
        Chart(
            "ranks",
            "Judged share at each rank",
            "For each run, a line shows the judged share of the results at each rank. It falls at "
            "ranks that are deeper than the pool.",
            spec(result["ranks"], LINES, x=step("rank", "Rank"), y=share, color=name_of("run")),
        ),
        Chart(
            "pools",
            "Size of a pool by its depth",
            "Three rising lines over the depth: all pairs, judged pairs, relevant pairs.",
            spec(
                pools,
                LINES,
                x=step("depth", "Depth"),
                y=quantity("count", "Pairs"),
                color=name_of("of", order=list(COUNTED.values())),
            ),
        ),
    ]


COVERAGE = Analysis(
    name="coverage",
    title="Judged share of ranked lists",
    question="How much of the ranked lists is judged, and how many pairs would a deeper pool add?",
    form=CoverageForm,
    is_directed=True,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    notes=("Original positives count as judged and relevant.",),
)
