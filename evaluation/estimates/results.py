"""An estimate as pages, commands and the API show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.core.estimates.drawn import Progress
from evaluation.core.estimates.frames import TopPairs
from evaluation.core.estimates.shares import wilson
from evaluation.core.estimates.values import Method
from evaluation.core.relevance.measures import parse_measure
from evaluation.estimates.models import Draw
from evaluation.estimates.selectors import (
    Known,
    LoadedDraw,
    draws_of_benchmark,
    read_lists,
)
from hearth.shared.errors import InvalidInput
from hearth.shared.words import counted
from pooling.models import Benchmark, Run


@dataclass(frozen=True, slots=True)
class Result:
    """An estimate with everything that a paper states about it. Values are shares.

    value, interval: None if it is refused; `refusal` is the reason. captions: the finished captions
    of the `planned`, in the drawn order, among the `undecided`. worth: the number of captions drawn
    at random with the same width; None unless the measure is C@k and the estimate complete.
    """

    measure: str
    run: str
    value: float | None
    interval: tuple[float, float] | None
    refusal: str | None
    method: str
    assumption: str
    captions: int
    planned: int
    undecided: int
    queries: int
    conflicts: int
    is_final: bool
    worth: int | None
    seed: int
    proxy: str
    draw: int
    other: str | None = None

    @property
    def half_width(self) -> float | None:
        return None if self.interval is None else (self.interval[1] - self.interval[0]) / 2

    @property
    def half_points(self) -> str:
        """Half the width of the interval in points."""
        return "–" if self.half_width is None else f"{100 * self.half_width:.2f}"

    @property
    def state(self) -> str:
        """Whether the estimate can still change, as text."""
        if self.refusal:
            return self.refusal
        if self.is_final:
            return "final"
        if self.captions == self.planned:
            return f"{counted(self.conflicts, 'caption')} in conflict"
        return "while people judge"

    @property
    def points(self) -> str:
        """The score and its interval in points."""
        if self.value is None or self.interval is None:
            return "–"
        low, high = (100 * end for end in self.interval)
        return f"{100 * self.value:.2f} [{low:.2f}, {high:.2f}]"

    @property
    def sentence(self) -> str:
        """The sentence for a paper."""
        if self.value is None or self.interval is None:
            return self.refusal or ""
        ended = "" if self.is_final else ", judging not finished"
        return (
            f"{self.measure} of {self.run}{f' minus {self.other}' if self.other else ''}: "
            f"{self.points}, 95 % interval of what judging all {self.queries:,} captions would "
            f"give ({self.method}; {self.captions} of {self.undecided:,} undecided captions drawn "
            f"at random, seed {self.seed}{ended})."
        )

    def as_json(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in self.__slots__}
        return found | {"interval": list(self.interval) if self.interval else None}


def result_of(draw: Draw, measure: str, loaded: LoadedDraw | None = None) -> Result:
    """Return the estimate of a measure now. Raises InvalidInput if the draw has none of it."""
    progress = (loaded or LoadedDraw.of(draw)).progress(measure)
    found, population = progress.estimate, draw.populations[measure]
    n_queries = draw.run.benchmark.n_queries
    ends = None if found.low is None or found.high is None else (found.low, found.high)
    return Result(
        measure=measure,
        run=draw.run.name,
        value=found.value,
        interval=ends,
        refusal=found.refusal.value if found.refusal else None,
        method=found.method.text,
        assumption=found.method.assumption,
        captions=progress.finished,
        planned=progress.planned,
        undecided=population["size"],
        queries=n_queries,
        conflicts=progress.conflicts,
        is_final=progress.is_final,
        worth=_worth(progress, n_queries),
        seed=draw.seed,
        proxy=draw.proxy,
        draw=draw.pk,
    )


def _worth(progress: Progress, n_queries: int) -> int | None:
    found = progress.estimate
    if not progress.is_complete or found.method is not Method.WILSON or not found.half_width:
        return None
    alone = wilson((found.value or 0) * found.n, found.n, n_queries)
    return round(found.n * (float(alone.high - alone.low) / 2 / found.half_width) ** 2)


def newest_results(benchmark: Benchmark) -> dict[tuple[int, str], Result]:
    """Return the newest estimates by the primary key of the run and the measure."""
    found: dict[tuple[int, str], Result] = {}
    for draw in reversed(draws_of_benchmark(benchmark)):
        loaded = LoadedDraw.of(draw)
        found |= {(draw.run_id, name): result_of(draw, name, loaded) for name in draw.populations}
    return found


def newest_draw(run: Run, measure: str) -> Draw | None:
    """Return the newest draw of a run that has an estimate of a measure."""
    draws = Draw.objects.filter(run=run).select_related("run__benchmark", "campaign__benchmark")
    return next((draw for draw in draws if measure in draw.populations), None)


def estimate_run(run: Run, measure: str, other: Run | None = None) -> Result:
    """Return the newest estimate of a run, or of its difference from another run.

    All captions of the other run must be decided. Raises InvalidInput if no captions were drawn, or
    if captions of the other run are undecided.
    """
    measure = str(parse_measure(measure))
    draw = newest_draw(run, measure)
    if draw is None:
        raise InvalidInput(
            f"No captions of {run.name} were drawn for {measure}. Draw them on the page of the run "
            "or with draw_captions."
        )
    found = result_of(draw, measure)
    return found if other is None else _minus(found, other, measure)


def _minus(found: Result, other: Run, measure: str) -> Result:
    parsed = parse_measure(measure)
    pairs = TopPairs.of(read_lists(other, [parsed]), Known.of(other.benchmark).judged)
    if undecided := int(pairs.undecided(parsed).sum()):
        raise InvalidInput(
            f"{undecided:,} captions of {other.name} are undecided for {measure}. A difference "
            "needs a run of which all captions are decided."
        )
    score = float(pairs.values([parsed], np.zeros(pairs.gains.shape))[parsed].mean())
    values = {name: getattr(found, name) for name in found.__slots__}
    if found.value is not None and found.interval is not None:
        low, high = found.interval
        values |= {"value": found.value - score, "interval": (low - score, high - score)}
    return Result(**values | {"other": other.name, "worth": None})
