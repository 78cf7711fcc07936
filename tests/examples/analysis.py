"""The share of captions whose list has a positive, by the rank down to which a person reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Run, Shown
from hearth.shared.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    depth: options.Depth = 10


@dataclass(frozen=True, slots=True)
class ReachRow:
    """The captions with a positive at this rank of a run or above."""

    run: Run
    rank: Annotated[int, Shown("Rank", "count")]
    share: Annotated[float, Shown("Captions with a positive, %", "percent")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    """The reach of each run.

    depth: the last rank
    """

    depth: int
    rows: Annotated[list[ReachRow], Tabled("reach", "Positives in the top {depth}")]

    def charts(self) -> list[charts.Chart]:
        share = charts.quantity("share", "Captions", axis={"format": charts.PERCENT})
        rank, run = charts.step("rank", "Rank"), charts.name_of("run")
        text = "A rising line for each run: the share of captions with a positive so far."
        found = charts.lines(self.rows, rank, share, run)
        return [charts.Chart("reach", "Captions with a positive", text, found)]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    ranks = range(1, options.depth + 1)
    values = inputs.values_of(inputs.judged, [f"C@{rank}" for rank in ranks])
    rows = [
        ReachRow(run, rank, float(found.mean()))
        for rank in ranks
        for run, found in values[f"C@{rank}"].items()
    ]
    return Result(options.depth, rows)


REACH = Analysis(
    name="reach",
    title="Reach of ranked lists",
    question="How far must a person read to find a positive?",
    options=Options,
    result=Result,
    compute=_compute,
    is_directed=True,
    notes=("Lists are read from the first rank.",),
)
