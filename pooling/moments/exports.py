"""Runs of moments in the forms that official evaluators read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from hearth.shared.tables import csv_parts
from pooling.core.readers.benchmarks.didemo import chunks_of
from pooling.core.readers.runs.moments import COLUMNS
from pooling.models import Run
from pooling.moments.core.spans import decimals
from pooling.moments.models import MomentRun
from pooling.moments.selectors import moment_lists, saliency_of
from pooling.selectors.arrays import query_keys, query_texts, video_keys

Moment = tuple[int, float, float, float]


def number_or_text(key: str) -> int | str:
    """Return a key as evaluators compare it: an integer, if it is written as one."""
    return int(key) if key.isdecimal() and str(int(key)) == key else key


def _listed(run: Run) -> Iterator[tuple[int, list[Moment]]]:
    """Yield each row with its moments, best first: video, start, end and score."""
    lists = moment_lists(run)
    if lists is None or lists.starts is None or lists.ends is None or lists.scores is None:
        raise InvalidInput(f"The run {run.name!r} ranks whole videos, and no moments.")
    starts, ends, scores = (decimals(x) for x in (lists.starts, lists.ends, lists.scores))
    for row, length in enumerate(lists.lengths.tolist()):
        if length:
            cells = (lists.items, starts, ends, scores)
            columns = (cell[row, :length].tolist() for cell in cells)
            yield row, list(zip(*columns, strict=True))


def _tvr(run: Run) -> Iterator[str]:
    keys, texts, videos = (read(run.benchmark) for read in (query_keys, query_texts, video_keys))
    ranked = MomentRun.objects.filter(run=run).first()
    task = ranked.task if ranked else ""
    names = json.dumps({video: number for number, video in enumerate(videos)})
    yield f'{{"video2idx": {names}, "{task}": ['
    separator = ""
    for row, moments in _listed(run):
        found = {"desc_id": number_or_text(keys[row]), "desc": texts[row], "predictions": moments}
        yield separator + json.dumps(found)
        separator = ", "
    yield "]}\n"


def _windows(run: Run) -> Iterator[str]:
    keys, texts, videos = (read(run.benchmark) for read in (query_keys, query_texts, video_keys))
    saliency = saliency_of(run)
    name = "line" if run.benchmark.moments.form == "charades" else "qid"
    for row, moments in _listed(run):
        found: dict[str, Any] = {name: number_or_text(keys[row]), "query": texts[row]}
        found["vid"] = videos[moments[0][0]]
        found["pred_relevant_windows"] = [list(moment[1:]) for moment in moments]
        if row in saliency:
            found["pred_saliency_scores"] = decimals(saliency[row]).tolist()
        yield json.dumps(found) + "\n"


def _segments(run: Run) -> Iterator[str]:
    keys = query_keys(run.benchmark)
    rows = [
        {
            "annotation_id": number_or_text(keys[row]),
            "segments": [chunks_of(start, end) for _, start, end, _ in moments],
        }
        for row, moments in _listed(run)
    ]
    yield json.dumps(rows) + "\n"


def _table(run: Run) -> Iterator[str]:
    keys, videos = query_keys(run.benchmark), video_keys(run.benchmark)
    rows = (
        (keys[row], videos[video], start, end, score)
        for row, moments in _listed(run)
        for video, start, end, score in moments
    )
    yield from csv_parts(COLUMNS, rows)


RUN_FORMS: Final[dict[str, Callable[[Run], Iterator[str]]]] = {
    "tvr": _tvr,
    "windows": _windows,
    "segments": _segments,
    "moments": _table,
}
"""The formats of runs of moments, by the names of their readers."""
