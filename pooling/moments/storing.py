"""Storing the moments of a benchmark and of a run. The services that import files call this."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from hearth.shared.bulk import copy_columns, copy_parts
from pooling.models import Benchmark, OriginalPositive, Run, Video
from pooling.moments.core.rows import MomentData, MomentRows, beyond_note
from pooling.moments.core.spans import Spans
from pooling.moments.models import MomentList, MomentRun, MomentSource, OriginalSpan
from pooling.moments.selectors import graded_clips, original_spans, video_durations

_PART = 1 << 18
_BATCH = 500


def store_spans(
    benchmark: Benchmark, rows: MomentRows, pairs: list[tuple[str, str]]
) -> tuple[str, ...]:
    """Replace the original spans of a benchmark. Return warnings.

    pairs: the keys of caption and video of each original positive of the file. Call it in the
    transaction that stores the original positives.
    """
    positives = OriginalPositive.objects.filter(query__benchmark=benchmark)
    number = {(q, v): pk for pk, q, v in positives.values_list("pk", "query__key", "video__key")}
    ids = np.array([number[pair] for pair in pairs], np.int64)
    OriginalSpan.objects.filter(positive__query__benchmark=benchmark).delete()
    grades = [None if np.isnan(grade) else float(grade) for grade in rows.grades]
    copy_columns(
        OriginalSpan,
        {
            "positive_id": ids[rows.pairs],
            "person": rows.people,
            "start": rows.starts,
            "end": rows.ends,
            "grade": grades,
        },
    )
    MomentSource.objects.update_or_create(
        benchmark=benchmark, defaults={"form": rows.form, "extras": dict(rows.extras)}
    )
    _store_durations(benchmark, rows)
    return warnings_of(benchmark)


def _store_durations(benchmark: Benchmark, rows: MomentRows) -> None:
    """Store the lengths of videos that the file states, if they are not known yet."""
    videos = list(Video.objects.filter(benchmark=benchmark, duration=None))
    changed = [video for video in videos if video.key in rows.durations]
    for video in changed:
        video.duration = rows.durations[video.key]
    Video.objects.bulk_update(changed, ["duration"], batch_size=_BATCH)


def warnings_of(benchmark: Benchmark) -> tuple[str, ...]:
    """Return a warning if spans end after their video."""
    spans = original_spans(benchmark)
    lengths = video_durations(benchmark)[benchmark.pair_space.videos(spans.codes)]
    beyond = int((spans.ends > np.nan_to_num(lengths, nan=np.inf)).sum())
    return (beyond_note(beyond, len(spans)),) if beyond else ()


def spans_of(benchmark: Benchmark) -> tuple[Spans, Spans]:
    """Return the moments and the graded clips of a benchmark."""
    return original_spans(benchmark), graded_clips(benchmark)


def store_moments(run: Run, data: MomentData) -> None:
    """Store the ranked moments of a new run."""
    MomentRun.objects.create(run=run, task=data.task, depth=data.depth)
    copy_parts(MomentList, _parts(run, data))


def _parts(run: Run, data: MomentData) -> Iterator[dict[str, Any]]:
    step = 1 + _PART // max(1, data.depth)
    for first in range(0, len(data.row_numbers), step):
        rows = data.row_numbers[first : first + step]
        bounds = data.offsets[first : first + step + 1].tolist()
        edges = list(pairwise(bounds))
        saliency = [data.saliency.get(row) for row in rows.tolist()]
        yield {
            "run_id": run.pk,
            "row": rows.astype(np.int64),
            "items": [data.items[a:b].astype("<i4").tobytes() for a, b in edges],
            "starts": [data.starts[a:b].astype("<f4").tobytes() for a, b in edges],
            "ends": [data.ends[a:b].astype("<f4").tobytes() for a, b in edges],
            "scores": [data.scores[a:b].astype("<f4").tobytes() for a, b in edges],
            "saliency": [None if s is None else s.astype("<f4").tobytes() for s in saliency],
        }
