"""Cheaper pools, tried out on one that is judged: which pairs should have been judged first?"""

from __future__ import annotations

from typing import Any

import numpy as np
from django import forms

from config.shared.errors import InvalidInput
from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    ShareMeasureField,
    Table,
    depth_field,
    seed_field,
)
from evaluation.analyses.specs import LINES, PERCENT, name_of, quantity, spec
from evaluation.core.leave_out import gather_pool
from evaluation.core.measures import parse_measure
from evaluation.core.replay import STRATEGIES, Replay, replay

STRATEGY = {
    "depth": "by depth",
    "uniform": "at random",
    "move-to-front": "move to front",
    "max-mean": "bandit, highest mean",
    "thompson": "bandit, Thompson",
}


class ReplayForm(AnalysisForm):
    measure = ShareMeasureField()
    depth = depth_field()
    error = forms.FloatField(
        label="Error that is near enough, in points",
        initial=0.5,
        min_value=0,
        max_value=100,
        help_text="Of the system that is furthest from its score by all labels.",
    )
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    pool = gather_pool(inputs.ranked, chosen["depth"], inputs.judged, inputs.standing)
    measure = parse_measure(chosen["measure"])
    rows, enough = [], []
    for number, (name, strategy) in enumerate(STRATEGIES.items()):
        progress(number, len(STRATEGIES), f"replaying {STRATEGY[name]}")
        rng = np.random.default_rng(chosen["seed"])
        try:
            (found,) = replay(pool, measure, {name: strategy}, rng=rng)
        except ValueError as error:
            raise InvalidInput(str(error)) from error
        rows += _budgets(found)
        enough.append({"strategy": name, **_enough(found, chosen["error"] / 100)})
    return {"measure": chosen["measure"], "error": chosen["error"], "rows": rows, "enough": enough}


def _budgets(found: Replay) -> list[Result]:
    return [
        {
            "strategy": found.strategy,
            "share": budget.share,
            "pairs": budget.pairs,
            "positives": budget.positives,
            "error": budget.error,
            "tau": budget.tau.value,
        }
        for budget in found.budgets
    ]


def _enough(found: Replay, error: float) -> Result:
    budget = found.enough(error)
    if budget is None:
        return {"share": None, "pairs": None, "positives": None, "tau": None}
    return {
        "share": budget.share,
        "pairs": budget.pairs,
        "positives": budget.positives,
        "tau": budget.tau.value,
    }


def _named(rows: list[Result]) -> list[Result]:
    return [{**row, "strategy": STRATEGY[row["strategy"]]} for row in rows]


def _tables(result: Result) -> list[Table]:
    spent = [
        Column("share", "Of the pool, %", "percent"),
        Column("pairs", "Pairs judged", "count"),
        Column("positives", "Relevant among them", "count"),
    ]
    tau = Column("tau", "Kendall’s tau of the ranking", "number")
    return [
        Table(
            "enough",
            f"How much suffices for {result['measure']} within {result['error']:g} points",
            [Column("strategy", "Order of the pairs"), *spent, tau],
            _named(result["enough"]),
            note="From this budget on no system is further off; between the budgets tried, less "
            "may do.",
        ),
        Table(
            "budgets",
            "All budgets",
            [
                Column("strategy", "Order of the pairs"),
                *spent,
                Column("error", "Largest error, points", "percent"),
                tau,
            ],
            _named(result["rows"]),
        ),
    ]


def _charts(result: Result) -> list[Chart]:
    rows = _named(result["rows"])
    strategy = name_of("strategy", "Order", order=list(STRATEGY.values()))
    share = quantity("share", "Share of the pool judged", axis={"format": PERCENT})
    return [
        Chart(
            "error",
            f"Error of {result['measure']} by what is judged",
            "A line for each order, falling to zero where all is judged: the largest distance of a "
            "system from its score by all labels.",
            spec(
                rows,
                LINES,
                x=share,
                y=quantity("error", "Largest error", axis={"format": ".1%"}),
                color=strategy,
            ),
        ),
        Chart(
            "positives",
            "Relevant pairs found",
            "A rising line for each order: how many relevant pairs are found by then.",
            spec(rows, LINES, x=share, y=quantity("positives", "Relevant"), color=strategy),
        ),
    ]


REPLAY = Kind(
    name="replay",
    title="Cheaper pools",
    question="Which pairs should be judged first, and how many would have done?",
    form=ReplayForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    runs_needed=2,
    needs_labels=True,
    notes=(
        "The pool is judged once more in another order: a pair’s label is revealed when its turn "
        "comes, and what is not revealed counts as not relevant. Move to front and the bandits "
        "stay with the run that brings relevant pairs, caption by caption.",
        "Only a pool that is judged to the chosen depth tells this. What is cheap here is likely "
        "cheap for benchmarks like this one, and for this measure.",
    ),
)
