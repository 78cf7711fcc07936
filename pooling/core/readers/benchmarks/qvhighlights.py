"""QVHighlights: JSON lines with the windows of a query, and grades of clips by three people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part, captions
from pooling.core.readers.registry import Fit, Head
from pooling.moments.core.rows import (
    Span,
    SpanRowsBuilder,
    json_lines,
    keyed,
    number_of,
    pair_of,
    span_fault,
)

CLIP_SECONDS: Final = 2


def read_qvhighlights(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> captions.CaptionsFile:
    file = files[QVHIGHLIGHTS.name]
    blocks = file.blocks(max_bytes=captions.MAX_BYTES)
    builder = captions.CaptionsBuilder(file.source, problems)
    spans = SpanRowsBuilder("qvhighlights")
    for line, found in json_lines(blocks, problems):
        key, video, text = keyed(found.get("qid")), found.get("vid"), found.get("query")
        if not key or not isinstance(video, str) or not isinstance(text, str):
            builder.refuse("'qid', 'vid' or 'query' is missing or no text", line)
            continue
        try:
            rows = [*_windows(found), *_grades(found)]
        except ValueError as error:
            builder.refuse(str(error), line)
            continue
        if builder.add_query(line, key, text) is not None:
            builder.add_positive(line, key, video, file.source)
            spans.add(key, video, rows)
            if duration := number_of(found.get("duration")):
                spans.durations[video] = duration
    read = [(file.source, QVHIGHLIGHTS.name, blocks.sha256)]
    return builder.finish_files(files=read).with_moments(spans)


def _windows(found: Mapping[str, Any]) -> Iterator[Span]:
    windows = found.get("relevant_windows", [])
    if not isinstance(windows, list):
        raise ValueError("'relevant_windows' is not a list")
    for window in windows:
        pair = pair_of(window)
        if pair is None:
            raise ValueError("a window is not a list of a start and an end")
        if fault := span_fault(*pair):
            raise ValueError(fault)
        yield Span(*pair)


def _grades(found: Mapping[str, Any]) -> Iterator[Span]:
    clips, grades = found.get("relevant_clip_ids", []), found.get("saliency_scores", [])
    if not isinstance(clips, list) or not isinstance(grades, list) or len(clips) != len(grades):
        raise ValueError("'relevant_clip_ids' and 'saliency_scores' are not lists of one length")
    for clip, of_people in zip(clips, grades, strict=True):
        if not isinstance(clip, int) or clip < 0:
            raise ValueError(f"the clip {clip!r} is not a number from 0")
        if not isinstance(of_people, list) or any(number_of(g) is None for g in of_people):
            raise ValueError(f"the grades of clip {clip} are not a list of numbers")
        start = float(CLIP_SECONDS * clip)
        for person, grade in enumerate(of_people, start=1):
            yield Span(start, start + CLIP_SECONDS, person, float(grade))


def _fits(head: Head) -> Fit:
    is_known = head.has_members("qid", "vid", "query")
    return Fit.SURE if is_known and '"pred_' not in head.first else Fit.NO


QVHIGHLIGHTS: Final = Part("qvhighlights", "QVHighlights queries with windows", _fits)
READER: Final = BenchmarkReader(
    name="qvhighlights",
    title="QVHighlights",
    place=11,
    about="Moments: JSON lines with qid, query, vid, duration, relevant_windows, and the grades of "
    "clips.",
    example='{"qid": 1, "query": "…", "duration": 90, "vid": "v1", "relevant_windows": [[22, 62]]}',
    combinations=[[QVHIGHLIGHTS]],
    files="queries of QVHighlights",
    option="JSON lines with windows",
    read=read_qvhighlights,
)
