"""Files of gold items with spans: `caption_id,video_id,start,end,tolerance,explanation`.

A pair has one row for each correct span, or one row without times if it is not relevant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from annotation.core.readers.gold import (
    GOLD,
    MAX_BYTES,
    MAX_ITEMS,
    GoldFile,
    Numbers,
    explanation_fault,
    pair_fault,
)
from annotation.core.spans import TOLERANCE, InvalidSpans, canonical, tolerance_fault
from pooling.core.keys import NUMBER, shown
from pooling.core.lines import SourceFile
from pooling.core.readers.registry import Fit, Head, Reader
from pooling.core.table import CsvTable

COLUMNS: Final = ("caption_id", "video_id", "start", "end")


@dataclass(slots=True)
class _Item:
    """A gold item, from its first line and the spans of all its lines."""

    line: int
    tolerance: float
    explanation: str
    spans: list[tuple[float, float]] = field(default_factory=list)


def _read(file: SourceFile, query_numbers: Numbers, video_numbers: Numbers) -> GoldFile:
    table = CsvTable(file.blocks(max_bytes=MAX_BYTES), COLUMNS, ("tolerance", "explanation"))
    items: dict[tuple[int, int], _Item] = {}
    for line, (query, video, start, end, tolerance, explanation) in table:
        fault = (
            pair_fault(query, video, query_numbers, video_numbers)
            or _number_fault(tolerance or "1", "tolerance")
            or tolerance_fault(float(tolerance or TOLERANCE))
            or explanation_fault(explanation)
        )
        if fault:
            table.refuse(fault, line)
        pair = query_numbers[query], video_numbers[video]
        new = _Item(line, float(tolerance or TOLERANCE), explanation)
        item = items.setdefault(pair, new)
        if item is not new and not (item.spans and start and end):
            table.refuse(
                f"the pair is already in line {item.line}, and one of them has no span", line
            )
        if fault := _add(item, start, end):
            table.refuse(fault, line)
        if len(items) > MAX_ITEMS:
            table.refuse(f"more than {MAX_ITEMS:,} gold items", line)
    if not items:
        table.refuse("the file has a header but no items", 1)
    queries, videos = np.array(list(items), np.int32).T
    rows = list(items.values())
    return GoldFile(
        queries=queries,
        videos=videos,
        relevant=np.array([bool(item.spans) for item in rows]),
        explanations=tuple(item.explanation for item in rows),
        lines=tuple(item.line for item in rows),
        source=table.blocks.source,
        question="spans",
        answers=tuple({"tolerance": item.tolerance} for item in rows),
        rows=tuple(canonical(item.spans) for item in rows),
    )


def _add(item: _Item, start: str, end: str) -> str | None:
    """Add the span of a line, and return what is wrong with it."""
    if not start and not end:
        return None
    if fault := _number_fault(start, "start") or _number_fault(end, "end"):
        return fault
    item.spans.append((float(start), float(end)))
    try:
        canonical(item.spans)
    except InvalidSpans as error:
        return error.fault.value
    return None


def _number_fault(text: str, noun: str) -> str | None:
    return None if NUMBER.fullmatch(text) else f"the {noun} {shown(text)} is not a number"


def _fits(head: Head) -> Fit:
    names = {name.strip('" ') for name in re.split("[,;\t]", head.first.lower())}
    return Fit.SURE if {*COLUMNS} <= names else Fit.NO


READER: Final = Reader(
    kind=GOLD.kind,
    name="spans",
    title="CSV with the columns caption_id,video_id,start,end,tolerance,explanation",
    about="Gold items of campaigns that ask where. Each row is a correct span, in seconds. A pair "
    "with several spans has several rows; a row without times is a pair that is not relevant. An "
    "answer is right if its spans overlap the correct ones by at least the tolerance, which is "
    "0.5 by default.",
    example="caption_id,video_id,start,end,tolerance,explanation\nc1,v7,1.5,4,0.5,the dog runs "
    "twice\nc1,v7,6,8.25,,\nc1,v9,,,,there is no dog",
    fits=_fits,
    read=_read,
)
