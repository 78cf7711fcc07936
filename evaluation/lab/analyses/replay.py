"""Simulation of cheaper pools on a judged pool: which order of judging needs the fewest pairs?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from django import forms

from evaluation.core.pools.judging_orders import STRATEGIES
from evaluation.core.pools.leave_out import gather_pool
from evaluation.core.pools.replay import Budget, Replay, replay_seeds
from evaluation.core.relevance.measures import parse_measure
from evaluation.lab.analyses.fields import ShareMeasureField, depth_field, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import replay as layout
from evaluation.lab.analyses.layouts.replay import (
    STRATEGY,
    BudgetRow,
    EnoughRow,
    ReplayResult,
    SpreadFigures,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import Ends
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress

SEEDS_MAX = 200
# The quantiles over the replays at which a band begins and ends.
BAND_SHARES = (0.05, 0.95)


class ReplayForm(AnalysisForm):
    measure = ShareMeasureField()
    depth = depth_field()
    error = forms.FloatField(
        label="Tolerated error (points)",
        initial=0.5,
        min_value=0,
        max_value=100,
        help_text="The largest tolerated difference of a system’s score by some of the labels from "
        "its score by all labels.",
    )
    seeds = forms.IntegerField(
        label="Replays per order",
        initial=20,
        min_value=1,
        max_value=SEEDS_MAX,
        help_text="How often judging in each order is simulated. Each replay draws the random part "
        "of the order again.",
    )
    seed = seed_field()


class ReplayOptions(TypedDict):
    measure: str
    depth: int
    error: float
    seeds: int
    seed: int


def _compute(inputs: Inputs, options: ReplayOptions, progress: Progress) -> ReplayResult:
    pool = gather_pool(inputs.ranked, options["depth"], inputs.judged, inputs.counted_originals)
    measure = parse_measure(options["measure"])
    rows: list[BudgetRow] = []
    enough: list[EnoughRow] = []
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
            _budget_row(name, budgets)
            for budgets in zip(*(replayed.budgets for replayed in found), strict=True)
        ]
        enough.append(
            {"strategy": name, **_spread([_enough(replayed, options) for replayed in found])}
        )
    return {
        "measure": options["measure"],
        "error": options["error"],
        "seeds": options["seeds"],
        "systems": len(inputs.runs),
        "rows": rows,
        "enough": enough,
    }


def _enough(found: Replay, options: ReplayOptions) -> Budget:
    """Return the smallest sufficient budget.

    This is the whole pool if no smaller budget is sufficient, because all labels give exact scores.
    """
    return found.enough(options["error"] / 100) or found.budgets[-1]


def _budget_row(name: str, budgets: Sequence[Budget]) -> BudgetRow:
    error, error_band = _median_and_band([budget.error for budget in budgets])
    return {"strategy": name, **_spread(budgets), "error": error, "error_band": error_band}


def _spread(budgets: Sequence[Budget]) -> SpreadFigures:
    """Return medians and bands over the seeds."""
    share, share_band = _median_and_band([budget.share for budget in budgets])
    pairs, pairs_band = _median_and_band([budget.pairs for budget in budgets])
    positives, positives_band = _median_and_band([budget.positives for budget in budgets])
    taus = [budget.tau.value for budget in budgets if budget.tau.value is not None]
    tau, tau_band = _median_and_band(taus)
    return {
        "share": share,
        "share_band": share_band,
        "pairs": pairs,
        "pairs_band": pairs_band,
        "positives": positives,
        "positives_band": positives_band,
        "tau": tau,
        "tau_band": tau_band,
    }


def _median_and_band(values: Sequence[float]) -> tuple[float | None, Ends | None]:
    """Return the lower median and the ends of the band. Each is the value of one of the seeds."""
    if not values:
        return None, None
    shares = [BAND_SHARES[0], 0.5, BAND_SHARES[1]]
    low, median, high = np.quantile(values, shares, method="inverted_cdf").tolist()
    return median, [low, high]


REPLAY = Analysis(
    name="replay",
    title="Cheaper pools",
    question="Which pairs should be judged first, and how many would have been enough?",
    form=ReplayForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    runs_needed=2,
    needs_labels=True,
    notes=(
        "The analysis simulates judging the pool in other orders. A pair counts as not relevant "
        "until it is judged. Original positives are known from the start, unless “Labels only” "
        "is selected. For each caption, “move "
        "to front” and the bandits prefer the runs that contributed relevant pairs so far.",
        "Every order has a random part, so each is replayed several times. All orders take the "
        "captions in random order, and “at random” and Thompson also use random numbers to choose "
        "pairs. A band shows the effect of this randomness. It does not show the effect of other "
        "captions or labels.",
        "Pairs without a label are ignored, so the result is reliable only if the pool is judged "
        "to the selected depth. An order that needs few labels here probably needs few labels for "
        "similar benchmarks and for this measure.",
    ),
)
