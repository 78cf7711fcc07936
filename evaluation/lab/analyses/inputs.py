"""The inputs of an analysis: labels, runs and captions, loaded when they are first read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NotRequired, TypedDict

import numpy as np

from annotation.models import Campaign
from annotation.questions.order.answers import orders_of
from annotation.selectors.judgments import JudgmentArrays, Rulings, judgment_arrays
from annotation.selectors.labels import labels_fingerprint
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.relevance.strata import NEEDS_STRATA, Strata
from evaluation.core.statistics.resampling import undefined_reason
from evaluation.lab.analyses.study_inputs import LoadedStudy
from evaluation.models import LabelSource
from evaluation.release.selectors import (
    ORIGINAL,
    label_set_judged,
    original_judged,
    strata_of_labels,
)
from evaluation.release.selectors.labels import for_equal_captions
from hearth.shared.bulk import snapshot
from hearth.shared.errors import InvalidInput
from hearth.shared.version import code_version
from pooling.core.direction import Direction
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from pooling.models import Benchmark, Proxy, Run
from pooling.selectors.arrays import query_keys, query_texts, video_keys
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.runs import find_runs, ranked_lists


class Provenance(TypedDict):
    """The inputs and options of a result, as a JSON object.

    chosen: the options. direction: the direction of all runs; without runs, or if the analysis
    mixes directions, the key is missing. runs, proxies: SHA-256 by name; without proxies, the key
    is missing. moment: the fingerprint of the labels, if the analysis reads single judgments.
    studies: SHA-256 of the orders by the primary key of the study; without studies, the key is
    missing.
    """

    benchmark: str
    captions_sha256: str
    labels: int | str
    labels_sha256: str | None
    labels_only: bool
    runs: dict[str, str]
    direction: NotRequired[str]
    proxies: NotRequired[dict[str, str]]
    chosen: Mapping[str, Any]
    code_version: str
    moment: NotRequired[list[int]]
    studies: NotRequired[dict[str, str]]


CAPTIONS, VIDEOS, AUTO = "captions", "videos", "auto"
BOTH_SIDES = "both-sides"
"""The video of the caption, and the video that was ranked."""


@dataclass(frozen=True)
class Inputs:
    """The labels, runs, captions, proxies and ordering studies that an analysis reads.

    Each is loaded at its first use. `proxy_inputs` loads the values of proxies.

    All runs have the same direction. For text-to-video runs, each query of an analysis is a
    caption, and its list contains videos. For video-to-text runs, each query is a video, and its
    list contains captions. Lists and labels are then those of the transposed `space`, in which
    `n_queries` is the number of videos and `n_videos` is the number of captions.

    If an analysis mixes directions, each run is scored in its own direction, and everything else is
    as for text-to-video runs.
    """

    benchmark: Benchmark
    runs: Sequence[Run]
    label_set: LabelSource | None
    labels_only: bool = False
    proxies: Sequence[Proxy] = ()
    direction: Direction = Direction.TEXT_TO_VIDEO
    mixes_directions: bool = False
    campaigns: Sequence[Campaign] = ()

    @property
    def space(self) -> PairSpace:
        """The pairs in the direction of the runs."""
        return self.direction.space(self.benchmark.pair_space)

    def provenance(self, options: Mapping[str, Any]) -> Provenance:
        """Return everything that a result with these options is computed from."""
        found: Provenance = {
            "benchmark": self.benchmark.key,
            "captions_sha256": self.benchmark.captions_sha256,
            "labels": self.label_set.reference if self.label_set else ORIGINAL,
            "labels_sha256": self.label_set.sha256 if self.label_set else None,
            "labels_only": self.labels_only,
            "runs": {run.name: run.sha256 for run in self.runs},
            "chosen": options,
            "code_version": code_version(),
        }
        if self.runs and not self.mixes_directions:
            found["direction"] = self.direction.value
        if self.proxies:
            found["proxies"] = {proxy.name: proxy.sha256 for proxy in self.proxies}
        if self.studies:
            found["studies"] = {str(study.campaign.pk): study.sha256 for study in self.studies}
        return found

    def runs_of_direction(self) -> list[Run]:
        """Return all runs of the benchmark with the direction of the selected ones."""
        return find_runs(self.benchmark, direction=self.direction)

    @cached_property
    def fingerprint(self) -> list[int]:
        """Fingerprint of the labels at the time the judgments were read.

        Before the judgments are read, it is the fingerprint at the time of the first access.
        """
        return labels_fingerprint(self.benchmark).as_list()

    @cached_property
    def judgments(self) -> JudgmentArrays:
        """All judgments that count, for the analyses that read single judgments."""
        with snapshot():
            # Judgments may have arrived since the fingerprint was first used.
            vars(self).pop("fingerprint", None)
            _ = self.fingerprint
            return judgment_arrays(self.benchmark)

    @cached_property
    def studies(self) -> list[LoadedStudy]:
        """The ordering studies with their orders."""
        return [LoadedStudy(campaign, orders_of(campaign)) for campaign in self.campaigns]

    @cached_property
    def judgments_by_caption(self) -> JudgmentArrays:
        """The judgments, repeated for each caption with an equal text."""
        empty = np.empty(0, np.int64)
        equal = first_equal_captions(self.benchmark)
        rulings = Rulings(empty, empty, empty, empty)
        return for_equal_captions(self.judgments, rulings, equal, self.benchmark.pair_space)[0]

    @cached_property
    def ranked(self) -> dict[str, RankedLists]:
        """Ranked lists by the name of the run."""
        return {run.name: ranked_lists(run) for run in self.runs}

    @cached_property
    def original(self) -> Judged:
        """The original positives."""
        return original_judged(self.benchmark).facing(self.direction)

    @cached_property
    def graded_original(self) -> Judged:
        """The original positives, with their grade on the scale of the selected labels."""
        return original_judged(self.benchmark, self.label_set).facing(self.direction)

    @cached_property
    def counted_originals(self) -> Judged:
        """The original positives that count. There are none if only the labels count."""
        return self.original.empty() if self.labels_only else self.original

    @cached_property
    def judged(self) -> Judged:
        """The selected labels, with the original positives if they count.

        Without a label set, these are only the original positives.
        """
        return self.original if self.label_set is None else self.judged_by(self.label_set)

    def judged_by(self, source: LabelSource) -> Judged:
        """Return the labels of `source`, with the original positives if they count."""
        labels = label_set_judged(source)
        if not self.labels_only:
            labels = with_positives(labels, original_judged(self.benchmark, source))
        return labels.facing(self.direction)

    @cached_property
    def strata(self) -> Strata | None:
        """The strata of the pool that the labels judge, for text-to-video runs."""
        if self.direction is not Direction.TEXT_TO_VIDEO:
            return None
        return strata_of_labels(self.benchmark, self.label_set, labels_only=self.labels_only)

    def strata_of(self, judged: Judged) -> Strata | None:
        """Return the strata of the selected labels, and of the original positives none with pairs.

        Other labels, such as those of an earlier time, have no strata.
        """
        if self.strata is not None and judged is self.original:
            return Strata.of((), judged.codes)
        return self.strata if judged is self.judged else None

    def values(self, judged: Judged, measure: str) -> dict[str, FloatArray]:
        """Return the per-query values of a measure by the name of the run, float64 [n_queries]."""
        return self.values_of(judged, [measure])[measure]

    def values_of(
        self, judged: Judged, measures: Sequence[str]
    ) -> dict[str, dict[str, FloatArray]]:
        """Return the per-query values of several measures, by measure and run.

        The labels of each run are looked up once for all measures.
        """
        parsed = {measure: parse_measure(measure) for measure in measures}
        strata = None
        if any(measure.needs == NEEDS_STRATA for measure in parsed.values()):
            strata = self.strata_of(judged)
        scores = {
            name: score_run(ranked, judged, parsed.values(), strata=strata)
            for name, ranked in self.ranked.items()
        }
        return {
            text: {name: score.per_query(measure) for name, score in scores.items()}
            for text, measure in parsed.items()
        }

    @cached_property
    def first_videos(self) -> IntArray:
        """The number of the video that is each query's first original positive, int64 [n_queries].

        A query without an original positive has a unique number. Captions with the same number are
        captions of one video, which are resampled together.
        """
        codes, _ = self.original.positives()
        space = self.benchmark.pair_space
        queries, places = np.unique(space.queries(codes), return_index=True)
        found = self.benchmark.n_videos + np.arange(self.benchmark.n_queries, dtype=np.int64)
        found[queries] = space.videos(codes[places])
        return found

    def resampling_unit(self, choice: str) -> str:
        """Return the resampling unit for a choice.

        `AUTO` becomes `VIDEOS` if some video has several captions, else `CAPTIONS`. For
        video-to-text runs, each video has one value, so the unit is the video.

        Raises `InvalidInput` if the choice is `CAPTIONS` and the runs are video-to-text.
        """
        if self.direction is Direction.VIDEO_TO_TEXT:
            if choice == CAPTIONS:
                raise InvalidInput(
                    "A video-to-text run has one list for each video, so only videos can be "
                    "resampled."
                )
            return VIDEOS
        if choice != AUTO:
            return choice
        share_videos = len(np.unique(self.first_videos)) < self.benchmark.n_queries
        return VIDEOS if share_videos else CAPTIONS

    def clusters(self, unit: str) -> IntArray | None:
        """Return the cluster of each query, int64 [n_queries], or None if each query is a unit.

        Queries of one cluster are resampled together, and a randomisation test changes their signs
        together. For video-to-text runs, each query is a unit, because it is a video.
        """
        by_video = self.resampling_unit(unit) in (VIDEOS, BOTH_SIDES)
        is_query = self.direction is Direction.VIDEO_TO_TEXT
        return self.first_videos if by_video and not is_query else None

    def varied_clusters(self, unit: str) -> IntArray | None:
        """Return the clusters as `clusters` does.

        Raises `InvalidInput` if there are fewer than two clusters or queries to resample.
        """
        clusters = self.clusters(unit)
        if reason := undefined_reason(self.space.n_queries, clusters):
            raise InvalidInput(reason)
        return clusters

    @cached_property
    def query_keys(self) -> list[str]:
        return query_keys(self.benchmark)

    @cached_property
    def video_keys(self) -> list[str]:
        return video_keys(self.benchmark)

    @cached_property
    def captions(self) -> list[str]:
        return query_texts(self.benchmark)

    @cached_property
    def caption_lengths(self) -> IntArray:
        """The number of words of each caption, int64 [n_queries]."""
        return np.array([len(text.split()) for text in self.captions], np.int64)
