"""Reading moments as whole columns, by number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from hearth.shared.bulk import Among
from pooling.core.arrays import Float32s, Float64s, Int64s
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.models import Benchmark, Run, Video
from pooling.moments.core.spans import Spans
from pooling.moments.models import MomentList, MomentRun, MomentSource, OriginalSpan

_PART = 1 << 14


def form_of(benchmark: Benchmark) -> str:
    """Return the data set that the spans of a benchmark come from; empty if it has none."""
    return (
        MomentSource.objects.filter(benchmark=benchmark).values_list("form", flat=True).first()
        or ""
    )


def has_moments(benchmark: Benchmark) -> bool:
    return bool(form_of(benchmark))


def original_spans(benchmark: Benchmark) -> Spans:
    """Return the moments that came with the data set, of the truth or of several people."""
    return _spans(benchmark, graded=False)


def graded_clips(benchmark: Benchmark) -> Spans:
    """Return the clips that people graded, with their grades."""
    return _spans(benchmark, graded=True)


def _spans(benchmark: Benchmark, *, graded: bool) -> Spans:
    rows = OriginalSpan.objects.filter(
        positive__query__benchmark=benchmark, grade__isnull=not graded
    )
    names = ["positive__query__number", "positive__video__number", "person", "start", "end"]
    if graded:
        names.append("grade")
    table = np.array(list(rows.values_list(*names)), np.float64).reshape(-1, len(names)).T
    queries, videos, people = table[:3].astype(np.int64)
    codes = benchmark.pair_space.encode(queries, videos)
    return Spans.of(codes, table[3], table[4], people, table[5] if graded else None)


def video_durations(benchmark: Benchmark) -> Float64s:
    """Return the lengths of the videos, float64 [n_videos], by number; nan if unknown."""
    values = Video.objects.filter(benchmark=benchmark).order_by("number")
    lengths = values.values_list("duration", flat=True)
    return np.array([np.nan if seconds is None else seconds for seconds in lengths], np.float64)


def moment_runs(runs: Sequence[Run]) -> dict[int, MomentRun]:
    """Return the moments of those runs that rank moments, by the run's primary key."""
    return {found.pk: found for found in MomentRun.objects.filter(run__in=runs)}


def moment_lists(run: Run, depth: int | None = None) -> RankedLists | None:
    """Return the ranked moments of a run, with a row for each caption; None if it has none.

    A video may occur several times in a list.
    """
    found = MomentRun.objects.filter(run=run).first()
    if found is None:
        return None
    return _lists(run, found, depth, np.arange(run.pair_space.n_queries), every=True)


def some_moment_lists(run: Run, depth: int | None, rows: Int64s) -> RankedLists | None:
    """Return some rows of `moment_lists`. rows: int64, ascending."""
    found = MomentRun.objects.filter(run=run).first()
    return None if found is None else _lists(run, found, depth, rows, every=False)


def _lists(
    run: Run, found: MomentRun, depth: int | None, wanted: Int64s, *, every: bool
) -> RankedLists:
    shape = (len(wanted), min(found.depth, depth or found.depth))
    items = np.full(shape, NO_ITEM, np.int32)
    cells: dict[str, Float32s] = {
        name: np.zeros(shape, np.float32) for name in ("starts", "ends", "scores")
    }
    lists = MomentList.objects.filter(run=run)
    lists = lists if every else lists.filter(Among("row", wanted))
    rows = lists.values_list("row", "items", "starts", "ends", "scores").iterator(1000)
    while part := list(islice(rows, _PART)):
        numbers, packed, *others = zip(*part, strict=True)
        at = np.searchsorted(wanted, np.array(numbers, np.int64))
        lengths = np.array([len(bytes(blob)) // 4 for blob in packed])
        column = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        kept = column < shape[1]
        place = (np.repeat(at, lengths)[kept], column[kept])
        items[place] = _joined(packed, "<i4")[kept]
        for name, blobs in zip(cells, others, strict=True):
            cells[name][place] = _joined(blobs, "<f4")[kept]
    queries = None if every else wanted
    return RankedLists.of(items, run.pair_space.n_videos, queries=queries, **cells)


def _joined(blobs: Sequence[Any], dtype: str) -> Any:
    return np.frombuffer(b"".join(map(bytes, blobs)), dtype)


def saliency_of(run: Run) -> dict[int, Float32s]:
    """Return the scores of the clips of each caption's video, by the number of the caption."""
    rows = MomentList.objects.filter(run=run, saliency__isnull=False)
    return {
        row: np.frombuffer(bytes(packed or b""), "<f4").astype(np.float32)
        for row, packed in rows.values_list("row", "saliency")
    }
