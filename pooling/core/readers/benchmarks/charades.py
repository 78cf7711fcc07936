"""Charades-STA: lines `video start end##sentence`, and a table of the durations of the videos.

The key of a caption is the number of its line. Many windows end after their video.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pooling.core.keys import NUMBER, shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part, captions
from pooling.core.readers.registry import Fit, Head
from pooling.core.table import CsvTable
from pooling.moments.core.rows import Span, SpanRowsBuilder, span_fault

_LINE: Final = re.compile(r"(\S+) (\S+) (\S+)\s*##(.*)")


def read_charades(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> captions.CaptionsFile:
    file = files[CHARADES.name]
    blocks = file.blocks(max_bytes=captions.MAX_BYTES)
    builder = captions.CaptionsBuilder(file.source, problems)
    spans = SpanRowsBuilder("charades")
    read = []
    for line, text in enumerate(blocks.text_lines(), start=1):
        if text.isspace():
            continue
        found = _LINE.fullmatch(text.rstrip("\n"))
        if found is None:
            builder.refuse("the line is not 'video start end##sentence'", line)
            continue
        video, start, end, sentence = found.groups()
        span = Span(_number(start), _number(end))
        if fault := span_fault(*span[:2]):
            builder.refuse(fault, line)
        elif builder.add_query(line, str(line), sentence.strip()) is not None:
            builder.add_positive(line, str(line), video, file.source)
            spans.add(str(line), video, [span])
    read.append((file.source, CHARADES.name, blocks.sha256))
    if durations := files.get(DURATIONS.name):
        read.append((durations.source, DURATIONS.name, _durations(durations, spans, problems)))
    return builder.finish_files(files=read).with_moments(spans)


def _number(text: str) -> float:
    """Return a number; nan, which is refused, for other texts."""
    return float(text) if NUMBER.fullmatch(text) else float("nan")


def _durations(file: SourceFile, spans: SpanRowsBuilder, problems: Problems) -> str:
    """Read the lengths of the videos. Return the hash of the content."""
    table = CsvTable(
        file.blocks(max_bytes=captions.MAX_BYTES), ("video", "duration"), (), problems=problems
    )
    for line, (video, text) in table:
        seconds = _number(text)
        if seconds > 0 and seconds < float("inf"):
            spans.durations[video] = seconds
        else:
            reason = f"the duration {shown(text)} is not a number of seconds above 0"
            problems.add(reason, file.source, line)
    return table.blocks.sha256


def _fits(head: Head) -> Fit:
    return Fit.SURE if _LINE.fullmatch(head.first) else Fit.NO


def _durations_fit(head: Head) -> Fit:
    return Fit.SURE if head.first.lower() == "video,duration" and not head.is_alone else Fit.NO


CHARADES: Final = Part("charades", "Charades-STA sentences", _fits)
DURATIONS: Final = Part("durations", "table of durations", _durations_fit)
READER: Final = BenchmarkReader(
    name="charades",
    title="Charades-STA",
    place=12,
    about="Moments: lines with a video, start, end and sentence. A table video,duration can come "
    "with it.",
    example="3MSZA 24.3 30.4##person turn a light on.",
    combinations=[[CHARADES], [CHARADES, DURATIONS]],
    files="sentences of Charades-STA, alone or with a table of durations",
    option="Charades-STA sentences, with or without a table video,duration",
    read=read_charades,
)
