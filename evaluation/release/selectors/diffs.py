"""The differences between two label sets of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.core.files.diff_file import render_diff, side_cells
from evaluation.core.files.label_file import Labels
from evaluation.core.relevance.label_diff import Kind, LabelDiff, diff_labels
from evaluation.models import DRAFT, LabelSource
from evaluation.release.selectors.labels import get_label_set, label_set_labels, latest_draft
from hearth.shared.errors import NotFound
from pooling.models import Benchmark, Query, Video
from pooling.selectors.arrays import query_keys, video_keys

KINDS = {
    Kind.NEW: "New pair",
    Kind.REMOVED: "Removed pair",
    Kind.CHANGED: "Label changed",
    Kind.GAINED: "Label added",
    Kind.LOST: "Label lost",
    Kind.SUPPORT: "Same label, other judgments",
    Kind.SAME: "Unchanged",
}
DIFFERENT = set(KINDS) - {Kind.SAME}


@dataclass(frozen=True, slots=True)
class PairChange:
    """One pair of a diff. before, after: label, source and number of judgments as text."""

    query: Query
    video: Video
    kind: str
    before: tuple[str, str, str]
    after: tuple[str, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class SourceDiff:
    """Two label sets, or a label set and the draft, and their differences."""

    old: LabelSource
    new: LabelSource
    old_labels: Labels
    new_labels: Labels
    diff: LabelDiff

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of pairs by the name of the change, as in files and the API."""
        return {kind.name.lower(): self.diff.counts[kind] for kind in KINDS}

    def rows(self, kind: str = "") -> npt.NDArray[np.intp]:
        """Return the rows with this change. If `kind` is empty, return all rows that differ."""
        return self.diff.rows_of({Kind[kind.upper()]} if kind else DIFFERENT)

    def changes(self, rows: Sequence[int]) -> list[PairChange]:
        """Load some rows with their captions and videos."""
        benchmark = self.new.benchmark
        space = benchmark.pair_space
        pairs = [space.decode(int(self.diff.codes[row])) for row in rows]
        shown_queries = Query.objects.filter(
            benchmark=benchmark, number__in={query for query, _ in pairs}
        )
        shown_videos = Video.objects.filter(
            benchmark=benchmark, number__in={video for _, video in pairs}
        )
        queries = {query.number: query for query in shown_queries}
        videos = {video.number: video for video in shown_videos}
        return [
            PairChange(
                queries[query],
                videos[video],
                KINDS[Kind(int(self.diff.kinds[row]))],
                side_cells(self.old_labels, int(self.diff.old[row])),
                side_cells(self.new_labels, int(self.diff.new[row])),
            )
            for row, (query, video) in zip(rows, pairs, strict=True)
        ]

    def csv(self, kind: str = "") -> Iterator[bytes]:
        keys = query_keys(self.new.benchmark), video_keys(self.new.benchmark)
        return render_diff(self.diff, self.old_labels, self.new_labels, self.rows(kind), *keys)


def compare_label_sets(benchmark: Benchmark, old: str, new: str) -> SourceDiff:
    """Compare two versions. Either can be `draft`. Raises `NotFound` if one does not exist."""
    sources = _get_source(benchmark, old), _get_source(benchmark, new)
    before, after = (label_set_labels(source) for source in sources)
    return SourceDiff(*sources, before, after, diff_labels(before, after))


def _get_source(benchmark: Benchmark, name: str) -> LabelSource:
    if name != DRAFT:
        return get_label_set(benchmark, name)
    draft = latest_draft(benchmark)
    if draft is None:
        raise NotFound(f"The benchmark {benchmark.key} has no draft.")
    return draft
