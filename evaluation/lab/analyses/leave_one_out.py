"""The bias of a pool: the loss of a system if the pairs that only it contributed are unjudged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from evaluation.core.pools.coverage import cover_ranks
from evaluation.core.pools.leave_out import Growth, LeftOut, gather_pool, grow_pool, leave_one_out
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.scoring import RunScores
from evaluation.lab.analyses.analysis import CUT, Analysis
from evaluation.lab.analyses.fields import MeasuresField, depth_field, seed_field
from evaluation.lab.analyses.forms import DirectedForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import leave_one_out as layout
from evaluation.lab.analyses.layouts.leave_one_out import (
    GrowthRow,
    LeaveOneOutResult,
    LeftOutFigures,
)
from hearth.shared.progress import Progress


class LeaveOneOutForm(DirectedForm):
    measures = MeasuresField()
    depth = depth_field()
    seed = seed_field()


class LeaveOneOutOptions(TypedDict):
    measures: list[str]
    depth: int
    seed: int


def _compute(inputs: Inputs, options: LeaveOneOutOptions, progress: Progress) -> LeaveOneOutResult:
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
                # The judged share of the ranked results. A missing list does not count as unjudged.
                "judged": cover_ranks(runs[row.system], pool.labels).share,
            }
            for row in left
        },
        "growth": [_grown(row) for row in grown],
    }


def _left_out(row: LeftOut, measures: Sequence[Measure]) -> LeftOutFigures:
    return {
        "all": _means(row.with_all, measures),
        "left_out": _means(row.without, measures),
        "bias": {str(measure): row.bias(measure).value for measure in measures},
        "pairs": row.pairs,
        "positives": row.positives,
    }


def _means(scores: RunScores, measures: Sequence[Measure]) -> dict[str, float | None]:
    return {str(measure): scores.mean(measure).value for measure in measures}


def _grown(row: Growth) -> GrowthRow:
    return {
        "run": row.system,
        "pooled": row.pooled,
        "pools": row.pools,
        "possible": row.possible,
        "bias": {str(measure): bias.value for measure, bias in row.bias.items()},
    }


LEAVE_ONE_OUT = Analysis(
    name="leave-one-out",
    title="Leave one system out",
    question="By how much is the score of a system too low if the system was not pooled?",
    source="FIRE study, table 4",
    form=LeaveOneOutForm,
    is_directed=True,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
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
