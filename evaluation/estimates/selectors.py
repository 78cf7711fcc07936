"""Reads what a plan, a draw and an estimate need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL
from annotation.models import Campaign, JudgmentTask
from annotation.models.tasks import AT_DESK
from evaluation.core.arrays import FloatArray, GainArray, IntArray
from evaluation.core.estimates.calibration import cross_fit
from evaluation.core.estimates.drawn import IN_CONFLICT, Population, Progress, progress_of
from evaluation.core.estimates.frames import TopPairs
from evaluation.core.relevance.judged import UNJUDGED, Judged, with_positives
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.estimates.models import Draw
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
    if proxy is None:
        share = (relevant.sum() + 20 * UNKNOWN) / (len(relevant) + 20)
        return np.full(lists.items.shape, share)
    values, videos_of = values_of_proxy(proxy), _videos_of(proxy.benchmark)
    queries, videos = labelled.space.decode(labelled.codes)
    rows = np.broadcast_to(np.arange(len(lists))[:, None], lists.items.shape)
    return cross_fit(
        values[queries, videos].astype(np.float64),
        relevant,
        videos_of[queries],
        values[rows, np.maximum(lists.items, 0)].astype(np.float64),
        videos_of[rows],
    )


def _videos_of(benchmark: Benchmark) -> IntArray:
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
        captions = draw.captions
        codes = np.array([row["codes"] for row in captions], np.int64)
        gains = np.array([row["gains"] for row in captions], np.int8)
        outside = np.array([row["outside"] for row in captions], np.int64)
        pairs = TopPairs(codes, gains, codes >= 0, outside)
        return cls(draw, pairs, *_labels_now(draw.campaign, codes, pairs.unjudged))

    def progress(self, measure: str) -> Progress:
        """Return the estimate of a measure now. Raises InvalidInput if it has none."""
        draw = self.draw
        if measure not in draw.populations:
            raise InvalidInput(no_estimate(draw, measure))
        predicted = [row["predicted"].get(measure) for row in draw.captions]
        rows = np.array([i for i, value in enumerate(predicted) if value is not None], np.int64)
        population = Population(
            parse_measure(measure), draw.run.benchmark.n_queries, **draw.populations[measure]
        )
        return progress_of(
            population,
            self.pairs.rows(rows),
            np.array([value for value in predicted if value is not None], np.float64),
            self.current[rows],
        )


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
    draws = Draw.objects.filter(run__benchmark=benchmark)
    return list(draws.select_related("run__benchmark", "campaign__benchmark", "created_by"))
