"""The bias of a pool: the loss of a system if the pairs that only it contributed are unjudged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from evaluation.core.pools.coverage import cover_ranks
from evaluation.core.pools.leave_out import gather_pool, grow_pool, leave_one_out
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import RunScores
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import CUT, Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import MeasureName, Run, Score, Shown
from evaluation.lab.analyses.tables import Table
from hearth.shared.progress import Progress

# With a lower judged share of its lists, a run gets a warning. The limit is below 1, because some
# pairs of a pooled run are in conflict or cannot be played.
POOLED_FROM = 0.95
# If there are more warnings, one warning replaces them.
WARNINGS_MAX = 3

ByMeasure = dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    measures: options.Measures = ("C@1", "C@5", "C@10", "AP")
    depth: options.Depth = 10
    seed: options.Seed = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The scores of a run by measure: with all labels, left out, and their difference.

    pairs: number of pairs that only this run contributed
    positives: number of relevant pairs among these
    judged: the judged share of its lists
    """

    all: ByMeasure
    left_out: ByMeasure
    bias: ByMeasure
    pairs: int
    positives: int
    judged: float


@dataclass(frozen=True, slots=True)
class Growth:
    """The mean bias of an unpooled run by measure, over pools of `pooled` other runs.

    pools: number of pools that were scored
    possible: number of pools of this size
    """

    run: str
    pooled: int
    pools: int
    possible: int
    bias: ByMeasure


@dataclass(frozen=True, slots=True)
class LossRow:
    run: Run
    measure: MeasureName
    all: Annotated[Score, Shown("All labels, %", "percent")]
    left_out: Annotated[Score, Shown("Left out, %", "percent")]
    bias: Annotated[Score, Shown("Difference, points", "points")]
    pairs: Annotated[int, Shown("Pairs only it contributed", "count")]
    positives: Annotated[int, Shown("Of these, relevant", "count")]


@dataclass(frozen=True, slots=True)
class GrowthRow:
    run: Annotated[str, Shown("Unpooled run")]
    pooled: Annotated[int, Shown("Other runs pooled", "count")]
    pools: Annotated[int, Shown("Pools averaged", "count")]
    measure: MeasureName
    bias: Annotated[Score, Shown("Mean difference, points", "points")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    depth: int
    runs: dict[str, LeftOut]
    growth: list[Growth]

    @property
    def losses(self) -> list[LossRow]:
        return [
            LossRow(name, m, run.all[m], run.left_out[m], run.bias[m], run.pairs, run.positives)
            for name, run in self.runs.items()
            for m in run.all
        ]

    @property
    def grown(self) -> list[GrowthRow]:
        return [
            GrowthRow(row.run, row.pooled, row.pools, measure, bias)
            for row in self.growth
            for measure, bias in row.bias.items()
        ]

    @property
    def has_changes(self) -> bool:
        """Whether any pool of fewer systems changes a score."""
        return any(row.bias for row in self.losses) or any(row.bias for row in self.grown)

    def tables(self) -> list[Table]:
        nothing = "No score changes if a system is left out, so there is no chart."
        note, title = "" if self.has_changes else nothing, "Each system, pooled and left out"
        return [
            self.table("runs", title, LossRow, self.losses, note=note),
            self.table("growth", "Bias by the number of pooled systems", GrowthRow, self.grown),
        ]

    def charts(self) -> list[charts.Chart]:
        if not self.has_changes:
            return []
        run, first = charts.name_of("run"), self.losses[0].measure
        lost = charts.quantity("bias", "Left out minus pooled", axis={"format": "+.1%"})
        return [
            charts.Chart(
                "bias",
                "Loss of a system that is left out",
                "Bars for each measure and run: its score without the labels that only it "
                "contributed, minus its score with all labels.",
                charts.bars(self.losses, charts.step("measure", "Measure", sort=None), lost, run),
            ),
            charts.Chart(
                "growth",
                f"Bias of {first} of an unpooled system, by the number of pooled systems",
                "A line for each run that is left out. The bias usually becomes smaller as more "
                "other systems are pooled.",
                charts.lines(
                    [row for row in self.grown if row.measure == first],
                    charts.step("pooled", "Other systems pooled"),
                    lost,
                    run,
                ),
            ),
        ]

    def warnings(self) -> list[str]:
        """Return a warning for each run with a judged share below `POOLED_FROM`.

        A single warning replaces more than `WARNINGS_MAX` warnings.
        """
        shares = {name: 100 * run.judged for name, run in self.runs.items()}
        low = {name: share for name, share in shares.items() if share < 100 * POOLED_FROM}
        if len(low) > WARNINGS_MAX:
            return [
                f"{len(low)} runs count as pooled systems, although only {min(low.values()):.1f} "
                f"to {max(low.values()):.1f} % of their top {self.depth} is judged. Deselect these "
                "runs, or judge their pairs."
            ]
        return [
            f"Only {share:.1f} % of the top {self.depth} of {name} is judged, but it counts as a "
            "pooled system. Deselect this run, or judge its pairs."
            for name, share in low.items()
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    # Ranks below the pooled ones are not judged completely for any system.
    runs = {name: ranked.top(options.depth) for name, ranked in inputs.ranked.items()}
    measures = [parse_measure(name) for name in options.measures]
    pool = gather_pool(runs, options.depth, inputs.judged, inputs.counted_originals)
    progress(0, 2, "leaving systems out")
    left = leave_one_out(pool, measures)
    progress(1, 2, "growing pools")
    grown = grow_pool(pool, measures, rng=np.random.default_rng(options.seed))
    return Result(
        options.depth,
        {
            row.system: LeftOut(
                _means(row.with_all, measures),
                _means(row.without, measures),
                {str(measure): row.bias(measure).value for measure in measures},
                row.pairs,
                row.positives,
                # The share of the ranked results. A missing list does not count as unjudged.
                cover_ranks(runs[row.system], pool.labels).share,
            )
            for row in left
        },
        [
            Growth(
                row.system,
                row.pooled,
                row.pools,
                row.possible,
                {str(measure): bias.value for measure, bias in row.bias.items()},
            )
            for row in grown
        ],
    )


def _means(scores: RunScores, measures: Sequence[Measure]) -> ByMeasure:
    return {str(measure): scores.mean(measure).value for measure in measures}


LEAVE_ONE_OUT = Analysis(
    name="leave-one-out",
    title="Leave one system out",
    question="By how much is the score of a system too low if the system was not pooled?",
    source="FIRE study, table 4",
    options=Options,
    result=Result,
    compute=_compute,
    is_directed=True,
    runs_needed=2,
    needs_labels=True,
    notes=(
        "Each system is scored twice: with all labels, and as if the pairs that only its own top "
        "results contributed were unjudged. The difference is what a new, unpooled system can "
        "lose. Original positives count in both scores, whichever system contributed them, "
        "unless “Labels only” is selected.",
        CUT,
    ),
)
