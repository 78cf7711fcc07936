"""Scoring runs of moments by the original spans and by the spans of a label set.

A run without moments has no such scores, so that other code need not distinguish the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.moments.kinds import NEEDS, ignores_people
from evaluation.core.moments.lists import MomentTruth, Saliency
from evaluation.core.moments.scoring import MomentScores, interval_by_video, score_moments
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.models import LabelSet
from evaluation.release import selectors
from evaluation.spans.selectors import label_set_spans
from pooling.models import Benchmark, Run
from pooling.moments.models import MomentRun
from pooling.moments.selectors import (
    form_of,
    graded_clips,
    moment_lists,
    original_spans,
    saliency_of,
    video_durations,
)
from pooling.selectors.arrays import original_positives

CUTOFFS: Final = (1, 5, 10, 100)
NO_MOMENTS: Final = "the run ranks whole videos"
NO_LABELS: Final = "labels have no stamps or grades"
_ONE_VIDEO: Final = "R@1(tIoU>=0.3) R@1(tIoU>=0.5) R@1(tIoU>=0.7)"
_TALL: Final = " ".join(
    f"R@{k}(nms=tall,tIoU>={threshold})" for k in (1, 5, 10) for threshold in (0.3, 0.5, 0.7)
)
_QVHIGHLIGHTS: Final = (
    "R@1(tIoU>=0.5) R@1(tIoU>=0.7) mAP AP(tIoU>=0.5) AP(tIoU>=0.75) mAP(length=short) "
    "mAP(length=middle) mAP(length=long) HLmAP(positive=fair) HLmAP(positive=good) "
    "HLmAP(positive=verygood) HLHit(positive=fair) HLHit(positive=good) HLHit(positive=verygood)"
)
OF_FORM: Final = {
    "qvhighlights": _QVHIGHLIGHTS,
    "charades": f"{_ONE_VIDEO} R@5(tIoU>=0.5) R@5(tIoU>=0.7) {_TALL} mIoU",
    "didemo": "Rank@1 Rank@5 mIoU(rule=didemo)",
    "activitynet": f"{_ONE_VIDEO} R@5(tIoU>=0.5) R@5(tIoU>=0.7) mIoU",
}
"""The measures of each data set's evaluators. Those of TVR are computed for all data sets."""


def default_measures(form: str, task: str) -> tuple[Measure, ...]:
    """Return the measures that runs of a task are scored with."""
    pairs = [(k, threshold) for threshold in (0.5, 0.7) for k in CUTOFFS]
    names = [f"VCMR@{k}(tIoU>={t})" for k, t in pairs] if task == "VCMR" else []
    names += [f"SVMR@{k}(tIoU>={t})" for k, t in pairs]
    names += [f"VR@{k}" for k in CUTOFFS] if task == "VCMR" else []
    names += OF_FORM.get(form, "").split()
    names += [f"Judged@{k}(of=moments)" for k in CUTOFFS]
    return tuple(map(parse_measure, names))


def table_measures(form: str) -> tuple[str, ...]:
    """Return the columns of tables of runs of moments."""
    of_form = {
        "qvhighlights": ("R@1(tIoU>=0.5)", "R@1(tIoU>=0.7)", "mAP"),
        "charades": ("R@1(tIoU>=0.5)", "R@1(tIoU>=0.7)", "mIoU"),
        "didemo": ("Rank@1", "Rank@5", "mIoU(rule=didemo)"),
        "activitynet": ("R@1(tIoU>=0.5)", "R@1(tIoU>=0.7)", "mIoU"),
    }
    tvr = ("VCMR@1(tIoU>=0.5)", "VCMR@1(tIoU>=0.7)", "SVMR@1(tIoU>=0.5)", "SVMR@1(tIoU>=0.7)")
    return (*tvr, *of_form.get(form, ("VCMR@10(tIoU>=0.7)", "VR@1")))


def columns_of_moments(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the columns of tables of a benchmark's runs of moments; empty without such runs."""
    if not MomentRun.objects.filter(run__benchmark=benchmark, run__is_private=False).exists():
        return ()
    return table_measures(form_of(benchmark))


@dataclass(frozen=True, slots=True)
class MomentEvaluation:
    """The scores of one run by measure. Without moments, everything is empty.

    undefined: the reasons of undefined scores. bounds, intervals: by the labels, or else by the
    original spans; the intervals draw videos.
    """

    measures: tuple[Measure, ...] = ()
    original: dict[str, float | None] = field(default_factory=dict)
    labelled: dict[str, float | None] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    bounds: dict[str, list[float | None]] = field(default_factory=dict)
    intervals: dict[str, list[float]] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)

    @classmethod
    def without_moments(cls, measures: tuple[Measure, ...]) -> MomentEvaluation:
        """Return undefined scores of a run of videos."""
        nothing: dict[str, float | None] = dict.fromkeys(map(str, measures))
        reasons = dict.fromkeys(map(str, measures), NO_MOMENTS)
        return cls(measures, nothing, nothing, reasons, reads=dict.fromkeys(nothing, 0))


class MomentScoring:
    """The truth of a benchmark, read when the first run of moments is scored."""

    def __init__(
        self, benchmark: Benchmark, label_set: LabelSet | None, *, labels_only: bool = False
    ) -> None:
        self._benchmark = benchmark
        self._label_set = label_set
        self._labels_only = labels_only

    @cached_property
    def original(self) -> MomentTruth:
        space = self._benchmark.pair_space
        queries, videos = original_positives(self._benchmark)
        return MomentTruth(
            space,
            np.sort(space.encode(queries, videos)),
            original_spans(self._benchmark),
            highlights=graded_clips(self._benchmark),
            durations=video_durations(self._benchmark),
        )

    @cached_property
    def labelled(self) -> MomentTruth | None:
        if self._label_set is None:
            return None
        people, _ = label_set_spans(self._label_set)
        return MomentTruth(
            self.original.space,
            self.original.home,
            self.original.original,
            people,
            selectors.label_set_judged(self._label_set),
            self._labels_only,
        )

    @cached_property
    def _form(self) -> str:
        return form_of(self._benchmark)

    @cached_property
    def _videos(self) -> IntArray:
        found = self.original.home_videos
        return np.full(self.original.space.n_queries, -1) if found is None else found

    def evaluate(self, run: Run, requested: Sequence[Measure] | None) -> MomentEvaluation:
        """Score a run. requested: None for the measures of the data set."""
        ranked = MomentRun.objects.filter(run=run).first()
        lists = None if ranked is None else moment_lists(run)
        named = tuple(measure for measure in requested or () if measure.needs == NEEDS)
        if ranked is None or lists is None:
            is_mixed = self._form and MomentRun.objects.filter(run__benchmark=run.benchmark)
            return MomentEvaluation.without_moments(named if is_mixed else ())
        measures = default_measures(self._form, ranked.task) if requested is None else named
        saliency = _packed(run, len(lists))
        has_labels = self.labelled is not None
        before = score_moments(
            lists, self.original, measures, saliency=saliency, bounds=not has_labels
        )
        after = before
        counted = [m for m in measures if not ignores_people(m)]
        if self.labelled is not None:
            after = score_moments(lists, self.labelled, counted, bounds=True)
        undefined = {str(m): NO_LABELS for m in measures if has_labels and m not in counted}
        for measure in measures:
            if reason := before.mean(measure).undefined:
                undefined[str(measure)] = reason
        labelled = {str(m): after.mean(m).value for m in (counted if has_labels else ())}
        return MomentEvaluation(
            measures,
            {str(m): before.mean(m).value for m in measures},
            labelled | dict.fromkeys(str(m) for m in measures if has_labels and m not in counted),
            undefined,
            {str(m): ends for m in after.values if (ends := after.bounds(m))},
            self._intervals(after),
            {str(measure): measure.reads(ranked.depth) for measure in measures},
        )

    def _intervals(self, scores: MomentScores) -> dict[str, list[float]]:
        found = {str(m): interval_by_video(v, self._videos) for m, v in scores.values.items()}
        return {name: ends for name, ends in found.items() if ends}


def _packed(run: Run, n_queries: int) -> Saliency:
    scores = saliency_of(run)
    none = np.empty(0, np.float32)
    each = [scores.get(row, none) for row in range(n_queries)]
    return Saliency(np.cumsum([0, *map(len, each)]), np.concatenate([none, *each]))
