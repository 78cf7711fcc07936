"""The ranked lists of one caption side by side, each video with what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.core.consensus import NO_LABEL
from evaluation.lab.analyses.base import Inputs
from evaluation.lab.comparison.captions import Comparison
from evaluation.release.selectors import label_set_labels
from pooling.models import OriginalPositive, Run, Video
from pooling.selectors import playable_address, top_videos

POSITIVE, NEW, IRRELEVANT = "original", "relevant", "irrelevant"
CONFLICT, UNJUDGED = "conflict", "unjudged"
WORDS = {
    POSITIVE: "original positive",
    NEW: "relevant by the labels",
    IRRELEVANT: "judged not relevant",
    CONFLICT: "labels in conflict",
    UNJUDGED: "not judged",
}
# Beside each video; with many runs the lists themselves tell, by being highlighted.
ALSO_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A video at a rank of a list.

    kind: one of WORDS. label: what people said, None where it comes to nothing. counts: whether it
    is a positive, which without the original positives is for people alone to say. also: its rank
    in the other lists, by their names.
    """

    rank: int
    video: Video
    kind: str
    label: int | None  # NO_LABEL in a conflict
    counts: bool
    also: Mapping[str, int]

    @property
    def address(self) -> str | None:
        return playable_address(self.video)

    @property
    def words(self) -> str:
        """An original positive counts whatever people said; what they said is told."""
        said = [WORDS[self.kind]]
        if self.kind == POSITIVE and self.label == 0:
            said.append(WORDS[IRRELEVANT])
        if self.kind == POSITIVE and self.label == NO_LABEL:
            said.append(WORDS[CONFLICT])
        if self.kind == POSITIVE and not self.counts:
            said.append("does not count")
        return ", ".join(said)

    @property
    def also_said(self) -> str:
        """Which of the other lists have it, and at which rank; of many the first."""
        ranks = [f"{name} {rank}" for name, rank in self.also.items()]
        more = [f"{len(ranks) - ALSO_SHOWN} more"] if len(ranks) > ALSO_SHOWN else []
        return ", ".join(ranks[:ALSO_SHOWN] + more)

    @property
    def told(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "rank": self.rank,
            "video_id": self.video.key,
            "kind": self.kind,
            "label": None if self.label == NO_LABEL else self.label,
            "counts": self.counts,
            "also": dict(self.also),
        }


@dataclass(frozen=True, slots=True)
class ShownList:
    """A run's list for one caption, with the ranks of its first positives."""

    run: Run
    standing: Mapping[str, Any]
    found: list[Found]


def lists_of(comparison: Comparison, query: int) -> list[ShownList]:
    """The lists of one caption, run by run. A fixed number of questions to the database, however
    many runs and ranks."""
    inputs = comparison.inputs
    tops = top_videos(inputs.runs, query, comparison.chosen["depth"])
    by_name = {run.name: tops.get(run.pk, []) for run in inputs.runs}
    videos = _videos(inputs, {number for top in tops.values() for number in top})
    ranks = _ranks(by_name)
    known = _Known(_original(inputs, query), _labels(inputs, query), inputs.labels_only)
    standings = comparison.row(query)["runs"]
    return [
        ShownList(
            run,
            standings[run.name],
            [
                known.found(rank, videos[number], _without(ranks[number], run.name))
                for rank, number in enumerate(by_name[run.name], start=1)
            ],
        )
        for run in inputs.runs
    ]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the videos of one query, by their numbers."""

    original: set[int]
    labels: Mapping[int, int]
    labels_only: bool

    def found(self, rank: int, video: Video, also: Mapping[str, int]) -> Found:
        is_original, label = video.number in self.original, self.labels.get(video.number)
        counts = (is_original and not self.labels_only) or (label or 0) >= 1
        return Found(rank, video, _kind(is_original, label), label, counts, also)


def caption_told(comparison: Comparison, query: int) -> dict[str, Any]:
    """One caption with its lists, as a JSON object."""
    row = comparison.row(query)
    for shown in lists_of(comparison, query):
        row["runs"][shown.run.name]["videos"] = [found.told for found in shown.found]
    place = {"place": comparison.place(query), "count": len(comparison.queries)}
    return {**row, **place, "inputs": comparison.provenance}


def _ranks(tops: Mapping[str, list[int]]) -> dict[int, dict[str, int]]:
    """Of every video its rank in each list that has it."""
    found: dict[int, dict[str, int]] = {}
    for name, top in tops.items():
        for rank, number in enumerate(top, start=1):
            found.setdefault(number, {})[name] = rank
    return found


def _without(ranks: Mapping[str, int], name: str) -> dict[str, int]:
    return {other: rank for other, rank in ranks.items() if other != name}


def _videos(inputs: Inputs, numbers: set[int]) -> dict[int, Video]:
    found = Video.objects.filter(benchmark=inputs.benchmark, number__in=numbers)
    return {video.number: video for video in found}


def _original(inputs: Inputs, query: int) -> set[int]:
    rows = OriginalPositive.objects.filter(query__benchmark=inputs.benchmark, query__number=query)
    return set(rows.values_list("video__number", flat=True))


def _labels(inputs: Inputs, query: int) -> dict[int, int]:
    """What people said of the videos of one query; NO_LABEL where they are in conflict."""
    if inputs.label_set is None:
        return {}
    known, space = label_set_labels(inputs.label_set), inputs.benchmark.pair_space
    edges = space.encode(np.array([query, query + 1]), 0)
    start, stop = np.searchsorted(known.codes, edges)
    videos = space.videos(known.codes[start:stop])
    return dict(zip(videos.tolist(), known.labels[start:stop].tolist(), strict=True))


def _kind(is_original: bool, label: int | None) -> str:
    if is_original:
        return POSITIVE
    if label is None:
        return UNJUDGED
    if label == NO_LABEL:
        return CONFLICT
    return NEW if label >= 1 else IRRELEVANT
