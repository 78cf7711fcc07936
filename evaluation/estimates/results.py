"""An estimate as pages, commands and the API show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from evaluation.core.estimates.drawn import Progress
from evaluation.core.estimates.frames import TopPairs
from evaluation.core.estimates.shares import wilson
from evaluation.core.estimates.values import Estimate, Method, Refusal
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.statistics.significance import holm
from evaluation.estimates.further import corrected_estimate, future_estimate
from evaluation.estimates.models import Draw
from evaluation.estimates.request import EstimateOptions
from evaluation.estimates.selectors import (
    Known,
    LoadedDraw,
    difference_now,
    draws_of_benchmark,
    newest_draw,
    newest_draw_of_two,
    read_lists,
)
from hearth.shared.errors import InvalidInput
from hearth.shared.words import counted
from pooling.models import Benchmark, Run
from pooling.selectors.proxies import get_proxy
from pooling.selectors.runs import get_run

EVERYTHING = "what judging all {queries:,} captions would give"
MEANINGS = {
    Method.JACKKNIFE: "the score on other captions and videos",
    Method.CORRECTED: "the score without wrong labels",
}


@dataclass(frozen=True, slots=True)
class Result:
    """An estimate with everything that a paper states about it. Values are shares.

    value, interval: None if it is refused; `refusal` is the reason. captions: the finished captions
    of the `planned`, in the drawn order, among the `undecided`. worth: the number of captions drawn
    at random with the same width; None unless the measure is C@k and the estimate complete. other:
    the run that is subtracted. p, p_holm: of no difference, and corrected for several differences;
    None unless captions were drawn for both runs. meaning: what the interval is for.
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
    p: float | None = None
    p_holm: float | None = None
    meaning: str = EVERYTHING

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
    def title(self) -> str:
        """The run, or both runs of a difference."""
        return f"{self.run} minus {self.other}" if self.other else self.run

    @property
    def _p_text(self) -> str:
        return "" if self.p_holm is None else f"; p {p_text(self.p_holm)} by Holm"

    @property
    def sentence(self) -> str:
        """The sentence for a paper."""
        if self.value is None or self.interval is None:
            return self.refusal or ""
        ended = "" if self.is_final else ", judging not finished"
        return (
            f"{self.measure} of {self.title}: {self.points}, 95 % interval of "
            f"{self.meaning.format(queries=self.queries)} ({self.method}; {self.captions} of "
            f"{self.undecided:,} undecided captions drawn at random, seed {self.seed}"
            f"{self._p_text}{ended})."
        )

    def as_json(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in self.__slots__}
        interval = list(self.interval) if self.interval else None
        return found | {"interval": interval, "sentence": self.sentence}


def p_text(p: float) -> str:
    return "below .001" if p < 0.001 else f"{p:.3f}"


def result_of(draw: Draw, measure: str, loaded: LoadedDraw | None = None) -> Result:
    """Return the estimate of a measure now. Raises InvalidInput if the draw has none of it."""
    if draw.other is not None:
        return _difference_result(draw)
    progress = (loaded or LoadedDraw.of(draw)).progress(measure)
    return _result(draw, measure, progress, progress.estimate)


def results_of(draw: Draw) -> list[Result]:
    """Return the estimates of all measures of a draw, the drawn measure first."""
    if draw.other is not None:
        return [_difference_result(draw)]
    loaded = LoadedDraw.of(draw)
    measures = sorted(draw.populations, key=lambda name: name != draw.measure)
    return [result_of(draw, name, loaded) for name in measures]


def _result(draw: Draw, measure: str, progress: Progress, found: Estimate) -> Result:
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
        undecided=draw.populations[measure]["size"],
        queries=n_queries,
        conflicts=progress.conflicts,
        is_final=progress.is_final,
        worth=_worth(progress, n_queries) if found is progress.estimate else None,
        seed=draw.seed,
        proxy=draw.proxy,
        draw=draw.pk,
        meaning=MEANINGS.get(found.method, EVERYTHING),
    )


def _difference_result(draw: Draw) -> Result:
    found = difference_now(draw)
    result = _result(draw, draw.measure, found.progress, found.progress.estimate)
    other = draw.other.name if draw.other else None
    return replace(result, other=other, worth=None, p=found.p)


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
        if draw.other is None:
            found |= {(draw.run_id, result.measure): result for result in results_of(draw)}
    return found


def newest_differences(benchmark: Benchmark) -> list[Result]:
    """Return the newest difference of each two runs by each measure, with p by Holm."""
    found: dict[tuple[frozenset[str], str], Result] = {}
    for draw in reversed(draws_of_benchmark(benchmark)):
        if draw.other is not None:
            key = frozenset((draw.run.name, draw.other.name)), draw.measure
            found[key] = _difference_result(draw)
    return with_holm(list(found.values()))


def estimate(benchmark: Benchmark, options: EstimateOptions) -> list[Result]:
    """Return the newest estimate of a run, or the differences of each two of several runs.

    Raises InvalidInput if options contradict each other, a run does not exist, or no captions were
    drawn.
    """
    options.check()
    measure = str(parse_measure(options.measure))
    runs = [get_run(benchmark, name) for name in options.runs]
    if len(runs) == 1:
        return [_score(runs[0], measure, options)]
    return with_holm([_difference(a, b, measure) for a, b in combinations(runs, 2)])


def with_holm(results: Sequence[Result]) -> list[Result]:
    """Return the results with p corrected for the number of differences that have a p."""
    known = [result.p for result in results if result.p is not None]
    adjusted = iter(holm(np.array(known)).tolist() if known else [])
    return [
        result if result.p is None else replace(result, p_holm=next(adjusted)) for result in results
    ]


def _score(run: Run, measure: str, options: EstimateOptions) -> Result:
    draw = newest_draw(run, measure, proxy=options.proxy)
    if draw is None:
        raise InvalidInput(_not_drawn(run.name, measure, options.proxy))
    loaded = LoadedDraw.of(draw)
    progress = loaded.progress(measure, by_machine=bool(options.proxy))
    found = progress.estimate
    if options.proxy and get_proxy(run.benchmark, options.proxy).sha256 != draw.proxy_sha256:
        found = Estimate.refused(found.method, Refusal.MACHINE_CHANGED, found.n, found.population)
    elif options.future:
        found = future_estimate(loaded, measure)
    elif options.corrected:
        found = corrected_estimate(loaded, measure)
    return _result(draw, measure, progress, found)


def _not_drawn(run: str, measure: str, proxy: str = "") -> str:
    with_machine = f" with the machine {proxy}" if proxy else ""
    return (
        f"No captions of {run} were drawn for {measure}{with_machine}. Draw them on the page of "
        "the run or with draw_captions."
    )


def _difference(run: Run, other: Run, measure: str) -> Result:
    """Return the newest difference of two runs.

    If captions were drawn for both, it is theirs. Otherwise, all captions of one of the runs must
    be decided. Its score is then exact, and is subtracted from the estimate of the other run.
    """
    draw = newest_draw_of_two(run, other, measure)
    if draw is not None:
        found = _difference_result(draw)
        return found if draw.run_id == run.pk else _opposite(found)
    scores = {one.pk: _complete_score(one, measure) for one in (run, other)}
    for first, second in ((run, other), (other, run)):
        exact, drawn = scores[second.pk], newest_draw(first, measure)
        if exact is not None and drawn is not None:
            found = _minus(result_of(drawn, measure), second, exact)
            return found if first == run else _opposite(found)
    raise InvalidInput(
        f"No captions were drawn for the difference of {run.name} and {other.name} by {measure}. "
        "Draw them with a second run, on the page of the run or with draw_captions."
    )


def _complete_score(run: Run, measure: str) -> float | None:
    """Return the score of a run of which all captions are decided, or None."""
    parsed = parse_measure(measure)
    pairs = TopPairs.of(read_lists(run, [parsed]), Known.of(run.benchmark).judged)
    if pairs.undecided(parsed).any():
        return None
    return float(pairs.values([parsed], np.zeros(pairs.gains.shape))[parsed].mean())


def _minus(found: Result, other: Run, score: float) -> Result:
    moved = found
    if found.value is not None and found.interval is not None:
        low, high = found.interval
        moved = replace(found, value=found.value - score, interval=(low - score, high - score))
    return replace(moved, other=other.name, worth=None)


def _opposite(found: Result) -> Result:
    """Return the difference in the other direction."""
    interval = None if found.interval is None else (-found.interval[1], -found.interval[0])
    value = None if found.value is None else -found.value
    return replace(found, run=found.other or "", other=found.run, value=value, interval=interval)
