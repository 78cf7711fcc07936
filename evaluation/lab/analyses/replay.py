"""Simulation of cheaper pools on a judged pool: which order of judging needs the fewest pairs?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from evaluation.core.pools.judging_orders import STRATEGIES
from evaluation.core.pools.leave_out import gather_pool
from evaluation.core.pools.replay import Budget, Replay, replay_seeds
from evaluation.core.relevance.measures import parse_measure
from evaluation.lab.analyses import options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import PERCENT, Chart, bands, name_of, quantity
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import hides_tau, tau_note
from evaluation.lab.analyses.rows import Ends, Shown
from evaluation.lab.analyses.tables import Table
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Option
from hearth.shared.progress import Progress

SEEDS_MAX = 200
# The quantiles over the replays at which a band begins and ends.
BAND_SHARES = (0.05, 0.95)
STRATEGY = {
    "depth": "by depth (best rank first)",
    "uniform": "at random",
    "move-to-front": "move to front",
    "max-mean": "bandit, highest mean",
    "thompson": "bandit, Thompson",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """Options of the analysis.

    error: The largest tolerated difference of a system’s score by some of the labels from its score
        by all labels.
    seeds: How often judging in each order is simulated. Each replay draws the random part of the
        order again.
    """

    measure: options.ShareMeasure = "C@5"
    depth: options.Depth = 10
    error: Annotated[float, Option("Tolerated error (points)", low=0, high=100)] = 0.5
    seeds: Annotated[int, Option("Replays per order", low=1, high=SEEDS_MAX)] = 20
    seed: options.Seed = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EnoughRow:
    """The smallest budget of judged pairs with which no error exceeds the tolerated error.

    Figures are medians over the replays of one order, and the band of the middle 90 % of the
    replays.

    share: the judged share of the pool
    tau: Kendall's tau with the ranking by all labels; null if undefined in all replays
    """

    strategy: Annotated[str, Shown("Order of the pairs", write=STRATEGY.__getitem__)]
    share: Annotated[float | None, Shown("Share of the pool, %", "percent")]
    share_band: Annotated[Ends | None, Shown("Band, %", "percent")]
    pairs: Annotated[float | None, Shown("Pairs judged", "count")]
    pairs_band: Ends | None
    positives: Annotated[float | None, Shown("Relevant pairs", "count")]
    positives_band: Annotated[Ends | None, Shown("Band", "count")]
    tau: Annotated[float | None, Shown("Kendall’s tau with the ranking by all labels", "number")]
    tau_band: Annotated[Ends | None, Shown("Band of tau", "number")]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow(EnoughRow):
    """One budget of judged pairs.

    error: the largest error of a system's score
    """

    error: Annotated[float | None, Shown("Largest error, points", "percent")]
    error_band: Annotated[Ends | None, Shown("Band of the error, points", "percent")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    measure: str
    error: float
    seeds: int
    systems: int
    rows: list[BudgetRow]
    enough: list[EnoughRow]

    @property
    def replays(self) -> str:
        if self.seeds == 1:
            return "One replay of each order."
        return (
            f"Medians of {self.seeds} replays of each order. A band contains the middle 90 % of "
            "them."
        )

    def tables(self) -> list[Table]:
        without = ("tau", "tau_band") if hides_tau(self.systems) else ()
        return [
            self.table(
                "enough",
                f"Smallest number of judged pairs with errors of {self.measure} up to "
                f"{self.error:g} points",
                EnoughRow,
                self.enough,
                note=f"{self.replays} The smallest number of a replay is the number of judged "
                f"pairs from which on no system has an error above {self.error:g} points. Only "
                "the numbers in the table “All budgets” were tried, so a smaller number between "
                "two of them may be enough.",
                without=without,
            ),
            self.table(
                "budgets",
                "All budgets",
                BudgetRow,
                self.rows,
                note=f"{self.replays} {tau_note(self.systems)}".strip(),
                columns="strategy share pairs positives positives_band error error_band tau "
                "tau_band",
                without=without,
            ),
        ]

    def charts(self) -> list[Chart]:
        return [
            Chart(
                "error",
                f"Error of {self.measure} by the judged share",
                "A line for each order: the median of its replays, within the band of the middle "
                "90 % of them. The error is the largest difference between a system’s score and "
                "its score by all labels. It is zero when all pairs are judged.",
                self._lines(quantity("error", "Largest error", axis={"format": ".1%"})),
            ),
            Chart(
                "positives",
                "Relevant pairs found",
                "A rising line for each order, within its band: the number of relevant pairs that "
                "are judged.",
                self._lines(quantity("positives", "Relevant")),
            ),
        ]

    def _lines(self, height: dict[str, Any]) -> dict[str, Any]:
        """Return a line of medians for each order, within the band of its replays."""
        share = quantity("share", "Share of the pool judged", axis={"format": PERCENT})
        order = name_of("strategy", "Order", order=list(STRATEGY.values()))
        return bands(self.rows, share, height, order, f"{height['field']}_band")


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    pool = gather_pool(inputs.ranked, options.depth, inputs.judged, inputs.counted_originals)
    measure = parse_measure(options.measure)
    rows: list[BudgetRow] = []
    enough: list[EnoughRow] = []
    for number, (name, strategy) in enumerate(STRATEGIES.items()):
        progress(number, len(STRATEGIES), f"replaying {STRATEGY[name]}")
        rng = np.random.default_rng(options.seed)
        try:
            (found,) = replay_seeds(pool, measure, {name: strategy}, seeds=options.seeds, rng=rng)
        except ValueError as error:
            raise InvalidInput(str(error)) from error
        for budgets in zip(*(replayed.budgets for replayed in found), strict=True):
            largest, band = _median_and_band([budget.error for budget in budgets])
            rows.append(
                BudgetRow(strategy=name, **_spread(budgets), error=largest, error_band=band)
            )
        smallest = [_enough(replayed, options) for replayed in found]
        enough.append(EnoughRow(strategy=name, **_spread(smallest)))
    return Result(options.measure, options.error, options.seeds, len(inputs.runs), rows, enough)


def _enough(found: Replay, options: Options) -> Budget:
    """Return the smallest sufficient budget.

    This is the whole pool if no smaller budget is sufficient, because all labels give exact scores.
    """
    return found.enough(options.error / 100) or found.budgets[-1]


def _spread(budgets: Sequence[Budget]) -> dict[str, Any]:
    """Return medians and bands over the seeds."""
    values: dict[str, list[float]] = {
        "share": [budget.share for budget in budgets],
        "pairs": [budget.pairs for budget in budgets],
        "positives": [budget.positives for budget in budgets],
        "tau": [budget.tau.value for budget in budgets if budget.tau.value is not None],
    }
    spread: dict[str, Any] = {}
    for name, found in values.items():
        spread[name], spread[f"{name}_band"] = _median_and_band(found)
    return spread


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
    options=Options,
    result=Result,
    compute=_compute,
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
