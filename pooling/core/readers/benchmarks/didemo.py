"""DiDeMo: a JSON list of descriptions, each with the segment that every annotator chose.

A segment is [first chunk, last chunk] of five seconds each, and becomes a span in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part, captions
from pooling.core.readers.registry import Fit, Head
from pooling.moments.core.rows import Span, SpanRowsBuilder, json_file, keyed, pair_of

CHUNK_SECONDS: Final = 5
CHUNKS: Final = 6


def seconds_of(first: int, last: int) -> tuple[float, float]:
    """Return start and end of a segment, whose last chunk is included."""
    return float(CHUNK_SECONDS * first), float(CHUNK_SECONDS * (last + 1))


def chunks_of(start: float, end: float) -> tuple[int, int]:
    """Reverse `seconds_of`."""
    return round(start / CHUNK_SECONDS), round(end / CHUNK_SECONDS) - 1


def segment_fault(value: object) -> str | None:
    """Return why a value is not a segment, or None."""
    pair = pair_of(value)
    if pair is None or not all(type(chunk) is int and 0 <= chunk < CHUNKS for chunk in pair):
        return f"the segment {value!r} is not a list of two chunks from 0 to {CHUNKS - 1}"[:200]
    if pair[1] < pair[0]:
        return f"the segment {value!r} ends before it starts"
    return None


def read_didemo(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> captions.CaptionsFile:
    file = files[DIDEMO.name]
    blocks = file.blocks(max_line=None, max_bytes=captions.MAX_BYTES)
    entries = json_file(blocks)
    if not isinstance(entries, list):
        raise InvalidInput("the file is not a list of descriptions", source=file.source)
    builder = captions.CaptionsBuilder(file.source, problems)
    spans = SpanRowsBuilder("didemo")
    for number, entry in enumerate(entries, start=1):
        _add(builder, spans, entry if isinstance(entry, dict) else {}, f"entry {number}")
    read = [(file.source, DIDEMO.name, blocks.sha256)]
    return builder.finish_files(files=read).with_moments(spans)


def _add(
    builder: captions.CaptionsBuilder, spans: SpanRowsBuilder, entry: dict[str, Any], place: str
) -> None:
    key, video = keyed(entry.get("annotation_id")), entry.get("video")
    text, times = entry.get("description"), entry.get("times")
    if not key or not isinstance(video, str) or not isinstance(text, str):
        reason = "its 'annotation_id', 'video' or 'description' is missing or no text"
        builder.refuse(reason, place=place)
        return
    if not isinstance(times, list) or not times:
        builder.refuse("it has no 'times'", place=place)
        return
    if fault := next(filter(None, map(segment_fault, times)), None):
        builder.refuse(fault, place=f"annotation_id {key}")
        return
    if builder.add_query(0, key, text, place=place) is None:
        return
    builder.add_positive(0, key, video, builder.source)
    people = enumerate(times, start=1)
    spans.add(key, video, [Span(*seconds_of(*time), person) for person, time in people])
    segments = entry.get("num_segments")
    if type(segments) is int and 0 < segments <= CHUNKS:
        spans.durations[video] = float(CHUNK_SECONDS * segments)


def _fits(head: Head) -> Fit:
    is_known = head.text.startswith("[") and all(
        f'"{name}"' in head.text for name in ("annotation_id", "times", "description")
    )
    return Fit.SURE if is_known else Fit.NO


DIDEMO: Final = Part("didemo", "DiDeMo descriptions", _fits)
READER: Final = BenchmarkReader(
    name="didemo",
    title="DiDeMo",
    place=13,
    about="Moments: a JSON list of descriptions with the segments of several annotators.",
    example='[{"annotation_id": 1, "description": "…", "video": "v1", "times": [[2, 2], [1, 2]]}]',
    combinations=[[DIDEMO]],
    files="descriptions of DiDeMo",
    option="JSON list of descriptions",
    read=read_didemo,
)
