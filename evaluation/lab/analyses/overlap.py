"""Overlap of two systems: the share of common videos at the top, and rank-biased overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.core.pools.overlap import compare_all_runs
from evaluation.lab.analyses import options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import Chart
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.pair_charts import pair_charts
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import OtherRun, Run, Score, Shown
from hearth.shared.options import Option
from hearth.shared.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """Options of the analysis.

    p: The weight of a rank, divided by the weight of the rank above it.
    """

    depth: options.Depth = 10
    p: Annotated[float, Option("Persistence p", low=0.01, high=0.999)] = 0.9


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """The overlap of two runs. `rbo` is the sum over the known ranks, as in the FIRE study."""

    runs: list[str]
    overlap: Annotated[Score, Shown("Shared, %", "percent")]
    rbo: Annotated[Score, Shown("RBO, known ranks only", "number")]
    p: float
    rbo_minimum: Annotated[Score, Shown("RBO minimum", "number")]
    rbo_residual: Annotated[Score, Shown("Residual", "number")]
    rbo_extrapolated: Annotated[Score, Shown("RBO extrapolated", "number")]

    @property
    def first(self) -> Run:
        return self.runs[0]

    @property
    def second(self) -> OtherRun:
        return self.runs[1]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    depth: int
    pairs: Annotated[
        list[OverlapRow],
        Tabled(
            "pairs",
            "Overlap of the top {depth}",
            columns="first second overlap rbo rbo_minimum rbo_residual rbo_extrapolated",
        ),
    ]

    def charts(self) -> list[Chart]:
        shared, rbo = (
            f"Shared videos in the top {self.depth}",
            "Rank-biased overlap, known ranks only",
        )
        pairs = [
            {"names": pair.runs, "overlap": pair.overlap, "rbo": pair.rbo} for pair in self.pairs
        ]
        return [
            *pair_charts(pairs, "run", "overlap", "overlap", shared, ".1%"),
            *pair_charts(pairs, "run", "RBO", "rbo", rbo, ".3f"),
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    pairs = [
        OverlapRow(
            [pair.first, pair.second],
            pair.common.value,
            pair.truncated.value,
            options.p,
            pair.minimum.value,
            pair.residual.value,
            pair.extrapolated.value,
        )
        for pair in compare_all_runs(inputs.ranked, options.depth, options.p)
    ]
    return Result(options.depth, pairs)


OVERLAP = Analysis(
    name="overlap",
    title="Overlap between systems",
    question="Do the systems rank the same videos at the top, and in the same order?",
    source="FIRE study, table 3",
    options=Options,
    result=Result,
    is_directed=True,
    compute=_compute,
    runs_needed=2,
    notes=(
        "Shared: the share of the top that two lists have in common, averaged over all captions.",
        "Rank-biased overlap (Webber, Moffat, Zobel 2010) gives the top ranks more weight. “Known "
        "ranks only” leaves out the ranks below the depth, as in the FIRE study. “Minimum” assumes "
        "that the lists have no further video in common there. “Residual” is the most that these "
        "ranks could add. “Extrapolated” assumes that the lists continue to agree as much as "
        "above.",
    ),
)
