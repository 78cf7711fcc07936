"""Reads what a plan, a draw and an estimate need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Q, QuerySet

from annotation.core.consensus import NO_LABEL
from annotation.models import Campaign, JudgmentTask
from annotation.models.tasks import AT_DESK
from evaluation.core.arrays import FloatArray, GainArray, IntArray
from evaluation.core.estimates.calibration import cross_fit
from evaluation.core.estimates.differences import (
    Difference,
    PairPopulation,
    Side,
    difference_of,
)
from evaluation.core.estimates.drawn import IN_CONFLICT, Population, Progress, progress_of
from evaluation.core.estimates.frames import TopPairs
from evaluation.core.relevance.judged import UNJUDGED, Judged, with_positives
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.estimates.models import Draw
from evaluation.machines.selectors import asked_pairs, judge_of
from evaluation.release.selectors.labels import live_labels, original_grade, original_judged
from hearth.shared.errors import InvalidInput
from pooling.core.equal_texts import text_pair_codes
from pooling.core.ranked_lists import RankedLists
from pooling.enums import EqualTexts
from pooling.models import Benchmark, Proxy, Run
from pooling.selectors.arrays import codes_of, original_positives
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.proxies import values_of_proxy
from pooling.selectors.runs import ranked_lists

# Measures that are planned, and estimated from the pairs of a draw that judges whole lists.
MEASURES = ("C@1", "C@5", "C@10", "AP@10", "nDCG@10", "P@10", "R@10", "RR@10")
# The probability of relevance of an unjudged pair before anything is judged.
UNKNOWN = 0.1


@dataclass(frozen=True, eq=False)
class Known:
    """The labels of a benchmark now. labelled: without the original positives."""

    labelled: Judged
    judged: Judged

    @classmethod
    def of(cls, benchmark: Benchmark) -> Known:
        judgments, labels = live_labels(benchmark)
        has_label = labels.labels != NO_LABEL
        labelled = Judged(
            labels.codes[has_label],
            labels.labels[has_label].astype(np.int8),
            benchmark.n_queries,
            benchmark.n_videos,
        )
        original = original_judged(benchmark)
        grade = original_grade(benchmark, judgments.campaigns)
        originals = Judged(
            original.codes,
            np.full(len(original.codes), grade, np.int8),
            benchmark.n_queries,
            benchmark.n_videos,
        )
        return cls(labelled, with_positives(labelled, originals))


def check_run(run: Run) -> None:
    """Raise InvalidInput if captions of a run cannot be drawn."""
    if run.direction != "text-to-video":
        raise InvalidInput("Only scores of text-to-video runs can be estimated.")


def chances_of(lists: RankedLists, known: Known, proxy: Proxy | None) -> FloatArray:
    """Return the probability of relevance of each ranked pair, float64 [n_queries, depth].

    With a proxy, its values are calibrated by the known labels, cross-fitted by video. Without one,
    it is the share of relevant pairs among the labels.
    """
    labelled = known.labelled
    relevant = (labelled.gains >= 1).astype(np.float64)
    share = (relevant.sum() + 20 * UNKNOWN) / (len(relevant) + 20)
    if proxy is None:
        return np.full(lists.items.shape, share)
    own_videos, queries = videos_of(proxy.benchmark), labelled.space.queries(labelled.codes)
    rows = np.broadcast_to(np.arange(len(lists))[:, None], lists.items.shape)
    at_labels, at_lists = (_values_at(proxy, codes) for codes in (labelled.codes, lists.codes))
    asked = ~np.isnan(at_labels)
    chances = cross_fit(
        at_labels[asked],
        relevant[asked],
        own_videos[queries[asked]],
        np.nan_to_num(at_lists),
        own_videos[rows],
    )
    # A machine judge says nothing about pairs that it was not asked.
    return np.where(np.isnan(at_lists), share, chances)


def _values_at(proxy: Proxy, codes: IntArray) -> FloatArray:
    """Return the values of pairs, float64 of the shape of codes.

    NaN for pairs without a value, and 0 at the padding of lists.
    """
    if judge := judge_of(proxy):
        return np.where(codes < 0, 0, asked_pairs(judge).of(codes))
    queries, videos = proxy.benchmark.pair_space.decode(np.maximum(codes, 0))
    return values_of_proxy(proxy)[queries, videos].astype(np.float64)


def videos_of(benchmark: Benchmark) -> IntArray:
    """Return the video that each caption came with, or the number of videos, int64 [n_queries]."""
    found = np.full(benchmark.n_queries, benchmark.n_videos, np.int64)
    queries, videos = original_positives(benchmark)
    found[queries] = videos
    return found


def read_lists(run: Run, measures: Sequence[Measure]) -> RankedLists:
    """Return the ranks that the measures read, for each caption."""
    check_run(run)
    lists = ranked_lists(run)
    return lists.top(max(measure.reads(lists.depth) for measure in measures))


@dataclass(frozen=True, eq=False)
class LoadedDraw:
    """A draw as arrays. tasks: the task of each drawn pair, int64 [n, depth]; 0 if it has none."""

    draw: Draw
    pairs: TopPairs
    tasks: IntArray
    current: GainArray

    @classmethod
    def of(cls, draw: Draw) -> LoadedDraw:
        pairs = _pairs_of(draw.captions)
        return cls(draw, pairs, *_labels_now(draw.campaign, pairs.codes, pairs.unjudged))

    def progress(self, measure: str, *, by_machine: bool = False) -> Progress:
        """Return the estimate of a measure now. Raises InvalidInput if it has none."""
        rows, predicted = self.drawn_for(measure)
        stored = self.draw.populations[measure]
        population = Population(
            parse_measure(measure),
            self.draw.run.benchmark.n_queries,
            stored["size"],
            stored["decided_sum"],
            stored["mean_predicted"],
        )
        return progress_of(
            population,
            self.pairs.rows(rows),
            predicted,
            self.current[rows],
            by_machine=by_machine,
        )

    def drawn_for(self, measure: str) -> tuple[IntArray, FloatArray]:
        """Return the drawn captions that a measure is undecided for, and their predictions.

        The captions are places in the drawn order, int64 [n]. Raises InvalidInput if the draw has
        no estimate of the measure.
        """
        if measure not in self.draw.populations:
            raise InvalidInput(no_estimate(self.draw, measure))
        predicted = [row["predicted"].get(measure) for row in self.draw.captions]
        rows = np.array([i for i, value in enumerate(predicted) if value is not None], np.int64)
        values = [value for value in predicted if value is not None]
        return rows, np.array(values, np.float64)

    @property
    def queries(self) -> IntArray:
        """The numbers of the drawn captions, int64 [n]."""
        return np.array([row["query"] for row in self.draw.captions], np.int64)


def difference_now(draw: Draw) -> Difference:
    """Return the difference of the two runs of a draw now."""
    measure, stored = draw.measure, draw.populations[draw.measure]
    first, second, both = stored["strata"]
    population = PairPopulation(
        parse_measure(measure),
        draw.run.benchmark.n_queries,
        (first, second, both),
        stored["decided_sum"],
        (stored["known"][0], stored["known"][1]),
        stored["mean_predicted"],
    )
    sides = []
    for rows in (draw.captions, [row["second"] for row in draw.captions]):
        pairs = _pairs_of(rows)
        sides.append(Side(pairs, _labels_now(draw.campaign, pairs.codes, pairs.unjudged)[1]))
    strata = np.array([row["stratum"] for row in draw.captions], np.int64)
    predicted = np.array([row["predicted"][measure] for row in draw.captions], np.float64)
    return difference_of(population, strata, sides, predicted)


def _pairs_of(rows: Sequence[Any]) -> TopPairs:
    """Return the ranked pairs of drawn captions, with the labels before the draw."""
    codes = np.array([row["codes"] for row in rows], np.int64)
    gains = np.array([row["gains"] for row in rows], np.int8)
    outside = np.array([row["outside"] for row in rows], np.int64)
    return TopPairs(codes, gains, codes >= 0, outside)


def no_estimate(draw: Draw, measure: str) -> str:
    """Return why a draw has no estimate of a measure."""
    if draw.stops_early:
        return (
            f"These captions were drawn for {draw.measure}. Their judging stops at the first "
            f"relevant pair, so there is no estimate of {measure}."
        )
    return f"The pairs of this draw are enough for {', '.join(draw.measures)}, not for {measure}."


def _labels_now(
    campaign: Campaign, codes: IntArray, wanted: npt.NDArray[np.bool_]
) -> tuple[IntArray, GainArray]:
    """Return the task of each pair, and its label now; pairs that are not wanted have none."""
    benchmark = campaign.benchmark
    rows = list(
        JudgmentTask.objects.filter(campaign=campaign, pair__isnull=False).values_list(
            "pk", "pair__query_id", "pair__video_id", "unit", "state", "label"
        )
    )
    tasks = np.zeros(codes.shape, np.int64)
    current = np.full(codes.shape, UNJUDGED, np.int8)
    if not rows:
        return tasks, current
    ids, queries, videos, units, states, labels = zip(*rows, strict=True)
    own = codes_of(benchmark, np.array(queries), np.array(videos))
    keys = np.array(
        [code if unit is None else unit for unit, code in zip(units, own, strict=True)], np.int64
    )
    gains = [_gain(state, label, campaign) for state, label in zip(states, labels, strict=True)]
    shared = benchmark.equal_texts != EqualTexts.OFF and units[0] is not None
    flat = codes[wanted]
    if shared:
        flat = text_pair_codes(flat, first_equal_captions(benchmark), benchmark.pair_space)
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys[order], flat), len(keys) - 1)]
    found = keys[place] == flat
    tasks[wanted] = np.where(found, np.array(ids, np.int64)[place], 0)
    current[wanted] = np.where(found, np.array(gains, np.int8)[place], UNJUDGED)
    return tasks, current


def _gain(state: str, label: int | None, campaign: Campaign) -> int:
    if label is not None:
        return int(campaign.is_relevant(label))
    return IN_CONFLICT if state in AT_DESK else UNJUDGED


def open_draws() -> list[Draw]:
    """Return the draws that stop early and whose campaigns still get answers."""
    draws = Draw.objects.filter(stops_early=True).exclude(campaign__state="closed")
    return list(draws.select_related("run__benchmark", "campaign__benchmark"))


def draws_of_benchmark(benchmark: Benchmark) -> list[Draw]:
    """Return the draws of a benchmark, the newest first."""
    return list(_with_runs(Draw.objects.filter(run__benchmark=benchmark)))


def draws_of_run(run: Run) -> list[Draw]:
    """Return the draws for a run, or for its difference from another run, the newest first."""
    return list(_with_runs(Draw.objects.filter(Q(run=run) | Q(other=run))))


def _with_runs(draws: QuerySet[Draw]) -> QuerySet[Draw]:
    return draws.select_related("run__benchmark", "other", "campaign__benchmark", "created_by")


def newest_draw(run: Run, measure: str, *, proxy: str = "") -> Draw | None:
    """Return the newest draw of a run that has an estimate of a measure.

    proxy: only draws with this machine; empty: all draws.
    """
    draws = _with_runs(Draw.objects.filter(run=run, other=None))
    found = draws.filter(proxy=proxy) if proxy else draws
    return next((draw for draw in found if measure in draw.populations), None)


def newest_draw_of_two(run: Run, other: Run, measure: str) -> Draw | None:
    """Return the newest draw for the difference of two runs, in either order."""
    draws = _with_runs(Draw.objects.filter(measure=measure))
    return draws.filter(Q(run=run, other=other) | Q(run=other, other=run)).first()
