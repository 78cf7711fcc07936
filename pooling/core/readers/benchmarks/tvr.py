"""TVR: JSON lines with one caption, its video and its time stamps; DiDeMo also has this form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part, captions
from pooling.core.readers.registry import Fit, Head
from pooling.moments.core.rows import Span, SpanRowsBuilder, json_lines, keyed, number_of, pair_of
from pooling.moments.core.rows import span_fault as fault_of


def read_tvr(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> captions.CaptionsFile:
    file = files[TVR.name]
    blocks = file.blocks(max_bytes=captions.MAX_BYTES)
    builder = captions.CaptionsBuilder(file.source, problems)
    spans = SpanRowsBuilder("tvr")
    for line, found in json_lines(blocks, problems):
        key, video, text = keyed(found.get("desc_id")), found.get("vid_name"), found.get("desc")
        stamps = _stamps(found.get("ts"))
        if not key or not isinstance(video, str) or not isinstance(text, str):
            builder.refuse("'desc_id', 'vid_name' or 'desc' is missing or no text", line)
        elif fault := _fault(stamps):
            builder.refuse(fault, line)
        elif builder.add_query(line, key, text) is not None:
            builder.add_positive(line, key, video, file.source)
            spans.add(key, video, stamps)
            if duration := number_of(found.get("duration")):
                spans.durations[video] = duration
            if isinstance(found.get("type"), str):
                spans.extras[key] = {"type": found["type"]}
    read = [(file.source, TVR.name, blocks.sha256)]
    return builder.finish_files(files=read).with_moments(spans)


def _stamps(value: Any) -> list[Span]:
    """Return one stamp, or the stamps of several people."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return [_stamp(each, person) for person, each in enumerate(value, start=1)]
    return [_stamp(value, 0)]


def _stamp(value: Any, person: int) -> Span:
    pair: Any = pair_of(value) or ("", "")
    return Span(pair[0], pair[1], person)


def _fault(spans: list[Span]) -> str | None:
    return next(filter(None, (fault_of(span.start, span.end) for span in spans)), None)


def _fits(head: Head) -> Fit:
    return Fit.SURE if head.has_members("desc_id", "vid_name", "ts") else Fit.NO


TVR: Final = Part("tvr", "TVR captions with time stamps", _fits)
READER: Final = BenchmarkReader(
    name="tvr",
    title="TVR",
    place=10,
    about="Moments: JSON lines with desc_id, desc, vid_name, duration and ts, the start and end in "
    "seconds.",
    example='{"vid_name": "v1", "duration": 61.5, "ts": [16.4, 33.8], "desc": "…", "desc_id": 1}',
    combinations=[[TVR]],
    files="captions of TVR",
    option="JSON lines with time stamps",
    read=read_tvr,
)
