"""The ranked lists of one caption, with the labels of each video."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from annotation.core.consensus import NO_LABEL, State
from evaluation.lab.analyses.inputs import Inputs, Provenance
from evaluation.lab.comparison.captions import Comparison, FirstRanks
from evaluation.release.selectors import label_set_labels
from pooling.models import OriginalPositive, Run, Video
from pooling.selectors.media import playable_address
from pooling.selectors.runs import top_items


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known about a pair. mark: the sign in front of its description on the page."""

    key: str
    mark: str
    description: str


POSITIVE = Kind("original", "★", "original positive")
NEW = Kind("relevant", "✚", "relevant by the labels")
IRRELEVANT = Kind("irrelevant", "✕", "judged not relevant")
CONFLICT = Kind("conflict", "≠", "in conflict")
PENDING = Kind("pending", "…", "pending")
UNJUDGED = Kind("unjudged", "?", "unjudged")
KINDS = (POSITIVE, NEW, IRRELEVANT, CONFLICT, PENDING, UNJUDGED)
# Maximum number of other lists that are named for each video.
OTHER_RANKS_MAX = 3


class VideoRow(TypedDict):
    """A ranked video.

    kind: original, relevant, irrelevant, conflict, pending or unjudged
    label: null if the pair is unjudged, pending or in conflict
    counts: whether the video is a positive
    also: ranks of the video in the other lists, by run
    """

    rank: int
    video_id: str
    kind: str
    label: int | None
    counts: bool
    also: dict[str, int]


class ListRow(FirstRanks):
    """The list of one run."""

    videos: list[VideoRow]


class CaptionLists(TypedDict):
    """A caption with its lists.

    new: number of new positives within the cutoff, summed over all runs
    place: position among the selected captions; null if the caption is not selected
    count: number of selected captions
    """

    caption_id: str
    caption: str
    words: int
    new: int
    runs: dict[str, ListRow]
    place: int | None
    count: int
    inputs: Provenance


@dataclass(frozen=True, slots=True)
class RankedVideo:
    """A video at a rank of a list.

    judged: the kind by the labels alone. label: None if the pair is unjudged, pending or in
    conflict. counts: whether the video is a positive. If the original positives are left out, only
    the labels decide this. also: its ranks in the other lists, by the names of their runs.
    """

    rank: int
    video: Video
    is_original: bool
    judged: Kind
    label: int | None
    counts: bool
    also: Mapping[str, int]

    @property
    def address(self) -> str | None:
        return playable_address(self.video)

    @property
    def kind(self) -> Kind:
        return POSITIVE if self.is_original else self.judged

    @property
    def description(self) -> str:
        """The kind of the video.

        For an original positive, the text also states if it is judged not relevant, in conflict or
        pending, and if it does not count.
        """
        parts = [self.kind.description]
        if self.is_original and self.judged in (IRRELEVANT, CONFLICT, PENDING):
            parts.append(self.judged.description)
        if self.is_original and not self.counts:
            parts.append("does not count")
        return ", ".join(parts)

    @property
    def other_ranks_text(self) -> str:
        """The first other lists that contain the video, with its ranks."""
        ranks = [f"{name} (rank {rank})" for name, rank in self.also.items()]
        more = [f"{len(ranks) - OTHER_RANKS_MAX} more"] if len(ranks) > OTHER_RANKS_MAX else []
        return ", ".join(ranks[:OTHER_RANKS_MAX] + more)

    @property
    def as_json(self) -> VideoRow:
        """The video as a JSON object."""
        return {
            "rank": self.rank,
            "video_id": self.video.key,
            "kind": self.kind.key,
            "label": self.label,
            "counts": self.counts,
            "also": dict(self.also),
        }


@dataclass(frozen=True, slots=True)
class RunList:
    """The list of a run for one caption, with the ranks of its first positives."""

    run: Run
    first_ranks: FirstRanks
    videos: list[RankedVideo]


def lists_of(comparison: Comparison, query: int) -> list[RunList]:
    """Return the lists of one caption, one for each run.

    The number of database queries does not depend on the number of runs and ranks.
    """
    inputs = comparison.inputs
    tops = top_items(inputs.runs, query, comparison.options["depth"])
    by_name = {run.name: tops.get(run.pk, []) for run in inputs.runs}
    videos = _videos(inputs, {number for top in tops.values() for number in top})
    ranks = _ranks(by_name)
    known = _VideoLabels(_original(inputs, query), _judged(inputs, query), inputs.labels_only)
    first_ranks = comparison.row(query)["runs"]
    return [
        RunList(
            run,
            first_ranks[run.name],
            [
                known.ranked_video(rank, videos[number], _without(ranks[number], run.name))
                for rank, number in enumerate(by_name[run.name], start=1)
            ],
        )
        for run in inputs.runs
    ]


@dataclass(frozen=True, slots=True)
class _VideoLabels:
    """The original positives and the labels of one query, by video number.

    judged: the state and the label of each judged pair.
    """

    original: set[int]
    judged: Mapping[int, tuple[int, int]]
    labels_only: bool

    def ranked_video(self, rank: int, video: Video, also: Mapping[str, int]) -> RankedVideo:
        is_original = video.number in self.original
        state, found = self.judged.get(video.number, (None, NO_LABEL))
        label = None if found == NO_LABEL else found
        counts = (is_original and not self.labels_only) or (label or 0) >= 1
        return RankedVideo(rank, video, is_original, _kind(state, label), label, counts, also)


def caption_as_json(comparison: Comparison, query: int) -> CaptionLists:
    """Return one caption with its lists as a JSON object."""
    row = comparison.row(query)
    return {
        "caption_id": row["caption_id"],
        "caption": row["caption"],
        "words": row["words"],
        "new": row["new"],
        "runs": {
            shown.run.name: {
                **shown.first_ranks,
                "videos": [video.as_json for video in shown.videos],
            }
            for shown in lists_of(comparison, query)
        },
        "place": comparison.place(query),
        "count": len(comparison.queries),
        "inputs": comparison.provenance,
    }


def _ranks(tops: Mapping[str, list[int]]) -> dict[int, dict[str, int]]:
    """Return the ranks of each video by the names of the runs whose lists contain it."""
    videos: dict[int, dict[str, int]] = {}
    for name, top in tops.items():
        for rank, number in enumerate(top, start=1):
            videos.setdefault(number, {})[name] = rank
    return videos


def _without(ranks: Mapping[str, int], name: str) -> dict[str, int]:
    return {other: rank for other, rank in ranks.items() if other != name}


def _videos(inputs: Inputs, numbers: set[int]) -> dict[int, Video]:
    videos = Video.objects.filter(benchmark=inputs.benchmark, number__in=numbers)
    return {video.number: video for video in videos}


def _original(inputs: Inputs, query: int) -> set[int]:
    rows = OriginalPositive.objects.filter(query__benchmark=inputs.benchmark, query__number=query)
    return set(rows.values_list("video__number", flat=True))


def _judged(inputs: Inputs, query: int) -> dict[int, tuple[int, int]]:
    """Return the state and the label of each judged video of one query."""
    if inputs.label_set is None:
        return {}
    known, space = label_set_labels(inputs.label_set), inputs.benchmark.pair_space
    edges = space.encode(np.array([query, query + 1]), 0)
    part = slice(*np.searchsorted(known.codes, edges))
    outcomes = zip(known.states[part].tolist(), known.labels[part].tolist(), strict=True)
    return dict(zip(space.videos(known.codes[part]).tolist(), outcomes, strict=True))


def _kind(state: int | None, label: int | None) -> Kind:
    if state is None:
        return UNJUDGED
    if label is None:
        return CONFLICT if state == State.CONFLICTED else PENDING
    return NEW if label >= 1 else IRRELEVANT
