"""Ranks of the positives, by their source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.core.relevance.positives import NEW, ORIGINAL, ranks_by_source
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Run, Score, Shown
from hearth.shared.progress import Progress

SOURCES = {"original": charts.ORIGINAL_POSITIVES, "new": charts.NEW_POSITIVES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    depth: options.Depth = 10


@dataclass(frozen=True, slots=True)
class RankCounts:
    """The number of positives of a run at each rank, by source."""

    original: list[int]
    new: list[int]


@dataclass(frozen=True, slots=True)
class RankRow:
    run: Run
    rank: Annotated[int, Shown("Rank", "count")]
    original: Annotated[int, Shown(charts.ORIGINAL_POSITIVES, "count")]
    new: Annotated[int, Shown(charts.NEW_POSITIVES, "count")]


@dataclass(frozen=True, slots=True)
class TotalRow:
    run: Run
    original: Annotated[int, Shown(charts.ORIGINAL_POSITIVES, "count")]
    new: Annotated[int, Shown(charts.NEW_POSITIVES, "count")]

    @property
    def share(self) -> Annotated[Score, Shown("New positives, %", "percent")]:
        both = self.original + self.new
        return self.new / both if both else None


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    captions: int
    runs: dict[str, RankCounts]

    @property
    def totals(self) -> Annotated[list[TotalRow], Tabled("totals", "Positives within the depth")]:
        return [TotalRow(name, sum(run.original), sum(run.new)) for name, run in self.runs.items()]

    @property
    def ranks(self) -> Annotated[list[RankRow], Tabled("ranks", "Positives at each rank")]:
        return [
            RankRow(name, rank, *counts)
            for name, run in self.runs.items()
            for rank, counts in enumerate(zip(run.original, run.new, strict=True), start=1)
        ]

    def charts(self) -> list[charts.Chart]:
        values = charts.melt(self.ranks, "run rank", SOURCES, "positives", "source")
        bars = {
            "mark": charts.BARS,
            "width": 280,
            "height": 180,
            "encoding": {
                "x": charts.step("rank", "Rank"),
                "y": charts.quantity("positives", "Positives"),
                "color": charts.name_of("source", order=list(SOURCES.values())),
            },
        }
        return [
            charts.Chart(
                "ranks",
                "Positives at each rank, by their source",
                "A chart for each run: stacked bars over the ranks, for original positives and for "
                "new positives.",
                {
                    "data": {"values": values},
                    "facet": {**charts.name_of("run"), "header": {"labelLimit": 260}},
                    "columns": 3,
                    "spec": bars,
                },
            )
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    runs: dict[str, RankCounts] = {}
    for number, (name, ranked) in enumerate(inputs.ranked.items()):
        progress(number, len(inputs.runs), "looking up positives")
        counts = ranks_by_source(ranked.top(options.depth), inputs.judged, inputs.original)
        runs[name] = RankCounts(counts[ORIGINAL].tolist(), counts[NEW].tolist())
    return Result(len(inputs.captions), runs)


RANKS = Analysis(
    name="ranks",
    title="Ranks of the positives",
    question="At which ranks are the new positives, and at which the original ones?",
    source="FIRE study, figure 12",
    options=Options,
    result=Result,
    compute=_compute,
    needs_labels=True,
)
