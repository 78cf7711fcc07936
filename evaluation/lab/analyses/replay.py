"""Cheaper pools, simulated on a judged pool: the order in which to judge pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from django import forms

from config.shared.errors import InvalidInput
from config.shared.progress import Progress
from evaluation.core.pools.leave_out import gather_pool
from evaluation.core.pools.replay import STRATEGIES, Budget, Replay, replay_seeds
from evaluation.core.relevance.measures import parse_measure
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import (
    BAND,
    LINES,
    PERCENT,
    Chart,
    low_high,
    name_of,
    quantity,
    spans,
)
from evaluation.lab.analyses.fields import ShareMeasureField, depth_field, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Column, Table

STRATEGY = {
    "depth": "by depth",
    "uniform": "at random",
    "move-to-front": "move to front",
    "max-mean": "bandit, highest mean",
    "thompson": "bandit, Thompson",
}


SEEDS_MAX = 200
# Share of the seeds that a band contains.
BAND_SHARES = (0.05, 0.95)


class ReplayForm(AnalysisForm):
    measure = ShareMeasureField()
    depth = depth_field()
    error = forms.FloatField(
        label="Tolerated error (points)",
        initial=0.5,
        min_value=0,
        max_value=100,
        help_text="Largest distance of a system from its score by all labels.",
    )
    seeds = forms.IntegerField(
        label="Replays per order",
        initial=20,
        min_value=1,
        max_value=SEEDS_MAX,
        help_text="Each replay repeats the random part of an order.",
    )
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    pool = gather_pool(inputs.ranked, options["depth"], inputs.judged, inputs.counted_originals)
    measure = parse_measure(options["measure"])
    rows, enough = [], []
    for number, (name, strategy) in enumerate(STRATEGIES.items()):
        progress(number, len(STRATEGIES), f"replaying {STRATEGY[name]}")
        rng = np.random.default_rng(options["seed"])
        try:
            (found,) = replay_seeds(
                pool, measure, {name: strategy}, seeds=options["seeds"], rng=rng
            )
        except ValueError as error:
            raise InvalidInput(str(error)) from error
        rows += [
            {"strategy": name, **_spread(budgets), **_band(budgets, "error")}
            for budgets in zip(*(one.budgets for one in found), strict=True)
        ]
        enough.append({"strategy": name, **_spread([_enough(one, options) for one in found])})
    return {
        "measure": options["measure"],
        "error": options["error"],
        "seeds": options["seeds"],
        "rows": rows,
        "enough": enough,
    }


def _enough(found: Replay, options: dict[str, Any]) -> Budget:
    """Return the smallest sufficient budget. With all labels, every score is exact."""
    return found.enough(options["error"] / 100) or found.budgets[-1]


def _spread(budgets: Sequence[Budget]) -> Result:
    """Return medians and bands over the seeds."""
    taus = [budget.tau.value for budget in budgets if budget.tau.value is not None]
    return {
        **_band(budgets, "share"),
        **_band(budgets, "pairs"),
        **_band(budgets, "positives"),
        **_median_and_band("tau", taus),
    }


def _band(budgets: Sequence[Budget], name: str) -> Result:
    return _median_and_band(name, [getattr(budget, name) for budget in budgets])


def _median_and_band(name: str, values: Sequence[float]) -> Result:
    """Return the lower median and the ends of the band. Each is the value of one of the seeds."""
    if not values:
        return {name: None, f"{name}_band": None}
    shares = [BAND_SHARES[0], 0.5, BAND_SHARES[1]]
    low, median, high = np.quantile(values, shares, method="inverted_cdf").tolist()
    return {name: median, f"{name}_band": [low, high]}


def _named(rows: list[Result]) -> list[Result]:
    return [{**row, "strategy": STRATEGY[row["strategy"]]} for row in rows]


def _replays(result: Result) -> str:
    if result["seeds"] == 1:
        return "One replay of each order."
    return (
        f"Medians of {result['seeds']} replays of each order. A band holds the middle 90 % of them."
    )


def _tables(result: Result) -> list[Table]:
    order = Column("strategy", "Order of the pairs")
    tau = Column("tau", "Kendall’s tau of the ranking", "number")
    tau_band = Column("tau_band", "Band of tau", "number")
    return [
        Table(
            "enough",
            f"Sufficient budget for {result['measure']} within {result['error']:g} points",
            [
                order,
                Column("share", "Share of the pool, %", "percent"),
                Column("share_band", "Band, %", "percent"),
                Column("pairs", "Pairs judged", "count"),
                Column("positives", "Relevant pairs", "count"),
                Column("positives_band", "Band", "count"),
                tau,
                tau_band,
            ],
            _named(result["enough"]),
            note=f"{_replays(result)} From this budget on, no system has a larger error. A "
            "smaller budget between those tried may be enough.",
        ),
        Table(
            "budgets",
            "All budgets",
            [
                order,
                Column("share", "Share of the pool, %", "percent"),
                Column("pairs", "Pairs judged", "count"),
                Column("positives", "Relevant pairs", "count"),
                Column("positives_band", "Band", "count"),
                Column("error", "Largest error, points", "percent"),
                Column("error_band", "Band of the error, points", "percent"),
                tau,
                tau_band,
            ],
            _named(result["rows"]),
            note=_replays(result),
        ),
    ]


def _charts(result: Result) -> list[Chart]:
    error = quantity("error", "Largest error", axis={"format": ".1%"})
    return [
        Chart(
            "error",
            f"Error of {result['measure']} by the judged share",
            "A line for each order: the median of its replays, within the band of the middle 90 "
            "% of them. It shows the largest distance of a system from its score by all labels, "
            "which is zero when all pairs are judged.",
            _lines(result["rows"], error),
        ),
        Chart(
            "positives",
            "Relevant pairs found",
            "A rising line for each order, within its band: the number of relevant pairs found.",
            _lines(result["rows"], quantity("positives", "Relevant")),
        ),
    ]


def _lines(rows: list[Result], height: dict[str, Any]) -> dict[str, Any]:
    """Return medians, each within the band of its seeds."""
    name = height["field"]
    values = [{**row, **low_high(row[f"{name}_band"])} for row in _named(rows)]
    ends = {"y": {**height, "field": "low"}, "y2": {"field": "high"}}
    return {
        "data": {"values": values},
        "encoding": {
            "x": quantity("share", "Share of the pool judged", axis={"format": PERCENT}),
            "color": name_of("strategy", "Order", order=list(STRATEGY.values())),
        },
        "layer": [*spans(values, ends, BAND), {"mark": LINES, "encoding": {"y": height}}],
    }


REPLAY = Analysis(
    name="replay",
    title="Cheaper pools",
    question="Which pairs should be judged first, and how many would have been enough?",
    form=ReplayForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    runs_needed=2,
    needs_labels=True,
    notes=(
        "The judging of the pool is simulated in another order. The label of a pair is revealed "
        "at its turn. Unrevealed pairs count as not relevant. Move to front and the bandits "
        "prefer the run that contributes relevant pairs, for each caption.",
        "Every order has a random part, so each is replayed several times. Captions come in a "
        "random order, and “at random” and Thompson also draw numbers. A band shows the effect "
        "of this randomness. It does not show the effect of other captions or labels.",
        "The simulation needs a pool that is judged to the selected depth. An order that is "
        "cheap here is probably cheap for similar benchmarks and for this measure.",
    ),
)
