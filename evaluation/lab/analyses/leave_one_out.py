"""Loss of a system if the pairs that only it contributed are unjudged: the bias of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.core.pools.coverage import cover_ranks
from evaluation.core.pools.leave_out import Growth, LeftOut, gather_pool, grow_pool, leave_one_out
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import RunScores
from evaluation.lab.analyses.analysis import CUT, Analysis
from evaluation.lab.analyses.charts import BARS, LINES, Chart, name_of, offset, quantity, spec, step
from evaluation.lab.analyses.fields import MeasuresField, depth_field, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Column, Table

NOTHING_LOST = "No score changes if a system is left out, so there is no chart."
POINTS = {"axis": {"format": "+.1%"}}
# Some pairs of a pooled run are in conflict or cannot be played.
POOLED_FROM = 0.95


class LeaveOneOutForm(AnalysisForm):
    measures = MeasuresField()
    depth = depth_field()
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    depth = options["depth"]
    # Ranks below the pooled ones are not judged completely for any system.
    runs = {name: ranked[:, :depth] for name, ranked in inputs.ranked.items()}
    measures = [parse_measure(name) for name in options["measures"]]
    pool = gather_pool(runs, depth, inputs.judged, inputs.counted_originals)
    progress(0, 2, "leaving systems out")
    left = leave_one_out(pool, measures)
    progress(1, 2, "growing pools")
    grown = grow_pool(pool, measures, rng=np.random.default_rng(options["seed"]))
    return {
        "depth": depth,
        "runs": {
            row.system: {
                **_left_out(row, measures),
                # The judged share of ranked videos. A missing list does not count as unjudged.
                "judged": cover_ranks(runs[row.system], pool.labels).share,
            }
            for row in left
        },
        "growth": [_grown(row) for row in grown],
    }


def _left_out(row: LeftOut, measures: Sequence[Measure]) -> Result:
    return {
        "all": _means(row.with_all, measures),
        "left_out": _means(row.without, measures),
        "bias": {str(measure): row.bias(measure).value for measure in measures},
        "pairs": row.pairs,
        "positives": row.positives,
    }


def _means(scores: RunScores, measures: Sequence[Measure]) -> dict[str, float | None]:
    return {str(measure): scores.mean(measure).value for measure in measures}


def _grown(row: Growth) -> Result:
    return {
        "run": row.system,
        "pooled": row.pooled,
        "pools": row.pools,
        "possible": row.possible,
        "bias": {str(measure): bias.value for measure, bias in row.bias.items()},
    }


def _rows(result: Result) -> list[dict[str, Any]]:
    return [
        {
            "run": name,
            "measure": measure,
            "all": row["all"][measure],
            "left_out": row["left_out"][measure],
            "bias": row["bias"][measure],
            "pairs": row["pairs"],
            "positives": row["positives"],
        }
        for name, row in result["runs"].items()
        for measure in row["all"]
    ]


def _tables(result: Result) -> list[Table]:
    return [
        Table(
            "runs",
            "Each system, pooled and left out",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("all", "All labels, %", "percent"),
                Column("left_out", "Left out, %", "percent"),
                Column("bias", "Difference, points", "points"),
                Column("pairs", "Pairs only it contributed", "count"),
                Column("positives", "Relevant of these", "count"),
            ],
            _rows(result),
            note="" if _loses(result) else NOTHING_LOST,
        ),
        Table(
            "growth",
            "Bias by the number of pooled systems",
            [
                Column("run", "Unpooled run"),
                Column("pooled", "Other runs pooled", "count"),
                Column("pools", "Pools", "count"),
                Column("measure", "Measure"),
                Column("bias", "Mean difference, points", "points"),
            ],
            _growth_rows(result),
        ),
    ]


def _growth_rows(result: Result) -> list[dict[str, Any]]:
    return [
        {**row, "measure": measure, "bias": bias}
        for row in result["growth"]
        for measure, bias in row["bias"].items()
    ]


def _loses(result: Result) -> bool:
    """Return whether any pool of fewer systems changes a score."""
    return any(row["bias"] for row in (*_rows(result), *_growth_rows(result)))


def _charts(result: Result) -> list[Chart]:
    if not _loses(result):
        return []
    run = name_of("run")
    first = next(iter(next(iter(result["runs"].values()))["all"]))
    growth = [row for row in _growth_rows(result) if row["measure"] == first]
    lost = quantity("bias", "Left out minus pooled", **POINTS)
    return [
        Chart(
            "bias",
            "Loss of a system that is left out",
            "Bars for each measure and run: its score without the labels that only it "
            "contributed, minus its score with all labels.",
            spec(
                _rows(result),
                BARS,
                x=step("measure", "Measure", sort=None),
                y=lost,
                xOffset=offset(run),
                color=run,
            ),
        ),
        Chart(
            "growth",
            f"{first} of an unpooled system by the number of pooled systems",
            "A line for each run that is left out. It rises towards zero as other systems are "
            "pooled.",
            spec(growth, LINES, x=step("pooled", "Other systems pooled"), y=lost, color=run),
        ),
    ]


def _warnings(result: Result) -> list[str]:
    return [
        f"Only {100 * row['judged']:.1f} % of the top {result['depth']} of {name} is judged, "
        "but it counts as a pooled system. Select the runs without it, or judge its pairs."
        for name, row in result["runs"].items()
        if row["judged"] < POOLED_FROM
    ]


LEAVE_ONE_OUT = Analysis(
    name="leave-one-out",
    title="Leave one system out",
    question="How much too low is the score of a system that was not pooled?",
    source="Table 4",
    form=LeaveOneOutForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    runs_needed=2,
    needs_labels=True,
    notes=(
        "Each system is scored twice: with all labels, and as if the pairs that only its own top "
        "results contributed were unjudged. The difference is what a new, unpooled system can "
        "lose. Original positives count for all systems, unless only the labels are selected.",
        CUT,
    ),
)
