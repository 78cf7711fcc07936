"""Runs of moments in the forms that official evaluators read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.http import StreamingHttpResponse

from hearth.shared.downloads import CSV, JSON, attachment
from hearth.shared.errors import InvalidInput, NotFound
from hearth.shared.tables import csv_parts
from pooling.core.arrays import Bools, Float32s
from pooling.core.ranked_lists import RankedLists
from pooling.core.readers.benchmarks.didemo import CHUNK_SECONDS, CHUNKS, chunks_of
from pooling.core.readers.runs.moments import COLUMNS
from pooling.models import Run
from pooling.moments.core.run_file import SVMR
from pooling.moments.core.spans import decimals
from pooling.moments.models import MomentRun
from pooling.moments.selectors import form_of, moment_lists, saliency_of
from pooling.selectors.arrays import query_keys, query_texts, video_keys

Moment = tuple[int, float, float, float]


def number_or_text(key: str) -> int | str:
    """Return a key as evaluators compare it: an integer, if it is written as one."""
    return int(key) if key.isdecimal() and str(int(key)) == key else key


def _columns(lists: RankedLists) -> list[Float32s]:
    cells = (lists.starts, lists.ends, lists.scores)
    return [cell for cell in cells if cell is not None]


def _listed(lists: RankedLists) -> Iterator[tuple[int, list[Moment]]]:
    """Yield each row with its moments, best first: video, start, end and score."""
    cells = (lists.items, *map(decimals, _columns(lists)))
    for row, length in enumerate(lists.lengths.tolist()):
        if length:
            columns = (cell[row, :length].tolist() for cell in cells)
            yield row, list(zip(*columns, strict=True))


def _tvr(run: Run, lists: RankedLists) -> Iterator[str]:
    keys, texts, videos = (read(run.benchmark) for read in (query_keys, query_texts, video_keys))
    ranked = MomentRun.objects.filter(run=run).first()
    task = ranked.task if ranked else ""
    names = json.dumps({video: number for number, video in enumerate(videos)})
    yield f'{{"video2idx": {names}, "{task}": ['
    separator = ""
    for row, moments in _listed(lists):
        found = {"desc_id": number_or_text(keys[row]), "desc": texts[row], "predictions": moments}
        yield separator + json.dumps(found)
        separator = ", "
    yield "]}\n"


def _windows(run: Run, lists: RankedLists) -> Iterator[str]:
    keys, texts, videos = (read(run.benchmark) for read in (query_keys, query_texts, video_keys))
    saliency = saliency_of(run)
    name = "line" if run.benchmark.moments.form == "charades" else "qid"
    for row, moments in _listed(lists):
        found: dict[str, Any] = {name: number_or_text(keys[row]), "query": texts[row]}
        found["vid"] = videos[moments[0][0]]
        found["pred_relevant_windows"] = [list(moment[1:]) for moment in moments]
        if row in saliency:
            found["pred_saliency_scores"] = decimals(saliency[row]).tolist()
        yield json.dumps(found) + "\n"


def _segments(run: Run, lists: RankedLists) -> Iterator[str]:
    keys = query_keys(run.benchmark)
    rows = [
        {
            "annotation_id": number_or_text(keys[row]),
            "segments": [chunks_of(start, end) for _, start, end, _ in moments],
        }
        for row, moments in _listed(lists)
    ]
    yield json.dumps(rows) + "\n"


def _table(run: Run, lists: RankedLists) -> Iterator[str]:
    keys, videos = query_keys(run.benchmark), video_keys(run.benchmark)
    rows = (
        (keys[row], videos[video], start, end, score)
        for row, moments in _listed(lists)
        for video, start, end, score in moments
    )
    yield from csv_parts(COLUMNS, rows)


def _fits_all(lists: RankedLists) -> Bools:
    return np.ones(len(lists), np.bool_)


def _has_one_video(lists: RankedLists) -> Bools:
    """Return whether each list has moments of one video only, bool [n]."""
    fits: Bools = ((lists.items == lists.items[:, :1]) | ~lists.is_item).all(axis=1)
    return fits


def _has_all_segments(lists: RankedLists) -> Bools:
    """Return whether each list has every segment of one video once, or is empty, bool [n]."""
    starts, ends, _ = _columns(lists)
    is_on_grid = ((starts % CHUNK_SECONDS == 0) & (ends % CHUNK_SECONDS == 0)) | ~lists.is_item
    codes = np.where(lists.is_item, starts * (CHUNKS + 1) + ends, -1) / CHUNK_SECONDS
    every = [a * (CHUNKS + 1) + b for a in range(CHUNKS) for b in range(a + 1, CHUNKS + 1)]
    is_full = lists.lengths == len(every)
    if lists.depth >= len(every):
        is_full &= (np.sort(codes, axis=1)[:, -len(every) :] == every).all(axis=1)
    has_all: Bools = is_on_grid.all(axis=1) & is_full & _has_one_video(lists)
    is_empty: Bools = lists.lengths == 0
    return has_all | is_empty


@dataclass(frozen=True, slots=True)
class RunForm:
    """A form of runs of moments.

    pieces: returns the text of the file in pieces. fits: returns whether each list can be written,
    bool [n]. need: what a list must have.
    """

    title: str
    suffix: str
    content_type: str
    pieces: Callable[[Run, RankedLists], Iterator[str]]
    fits: Callable[[RankedLists], Bools] = _fits_all
    need: str = ""


RUN_FORMS: Final[dict[str, RunForm]] = {
    "tvr": RunForm("TVR", ".json", JSON, _tvr),
    "windows": RunForm(
        "QVHighlights, Charades-STA",
        ".jsonl",
        "application/x-ndjson",
        _windows,
        _has_one_video,
        "the moments of one video in each list",
    ),
    "segments": RunForm(
        "DiDeMo",
        ".json",
        JSON,
        _segments,
        _has_all_segments,
        "all 21 segments of one video in each list",
    ),
    "moments": RunForm("CSV", ".csv", CSV, _table),
}
"""The formats of runs of moments, by the names of their readers."""


def moment_forms(run: Run) -> list[tuple[str, str]]:
    """Return the name and the title of each form that a run of moments usually fits."""
    found = MomentRun.objects.filter(run=run).first()
    if found is None:
        return []
    fitting = {"tvr", "moments"}
    if found.task == SVMR:
        fitting.add("segments" if form_of(run.benchmark) == "didemo" else "windows")
    return [(name, kind.title) for name, kind in RUN_FORMS.items() if name in fitting]


def open_run_form(run: Run, form: str) -> Iterator[str]:
    """Return the pieces of a run's file.

    Raises `NotFound` if there is no such form, and `InvalidInput` if the run does not fit it.
    """
    if form not in RUN_FORMS:
        raise NotFound("There is no such file.")
    lists = moment_lists(run)
    if lists is None:
        raise InvalidInput(f"The run {run.name!r} ranks whole videos, and no moments.")
    kind = RUN_FORMS[form]
    if not (fitting := kind.fits(lists)).all():
        key = query_keys(run.benchmark)[int(np.argmin(fitting))]
        reason = (
            f"The list of caption {key!r} does not fit the form {form}, which needs {kind.need}."
        )
        raise InvalidInput(reason)
    return kind.pieces(run, lists)


def send_run_form(run: Run, form: str) -> StreamingHttpResponse:
    """Return a run as a file that browsers save. Raises the errors of `open_run_form`."""
    pieces, kind = open_run_form(run, form), RUN_FORMS[form]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", run.name).strip("-.") or "run"
    name = f"{run.benchmark.key}-{name}-{form}{kind.suffix}"
    headers = {"Content-Disposition": attachment(name)}
    return StreamingHttpResponse(pieces, content_type=kind.content_type, headers=headers)
