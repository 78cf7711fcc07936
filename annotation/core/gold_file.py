"""Captions and videos of which the truth is known: `caption_id,video_id,label,explanation`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Int32s
from pooling.core.keys import key_fault, shown, text_fault
from pooling.core.lines import Progress, TextBlocks
from pooling.core.table import CsvTable

EXPLANATION_LENGTH = 2000
# Some thousand items with long explanations; no set of gold is larger.
MAX_BYTES = 64 << 20

_LABELS = {"1": True, "0": False, "relevant": True, "irrelevant": False}


@dataclass(frozen=True, slots=True, eq=False)
class GoldFile:
    """One item per place, in the order of the file.

    `queries`, `videos` int32 [n] are numbers of the benchmark, `relevant` bool [n]; `lines` is
    where each item is in the file.
    """

    queries: Int32s
    videos: Int32s
    relevant: npt.NDArray[np.bool_]
    explanations: tuple[str, ...]
    lines: tuple[int, ...]
    source: str


def parse_gold(
    path: Path,
    *,
    query_numbers: Mapping[str, int],
    video_numbers: Mapping[str, int],
    progress: Progress | None = None,
    source: str | None = None,
) -> GoldFile:
    """Read gold, plain or gzip; 1 (or relevant) is a match, 0 (or irrelevant) is none.

    The column `explanation` may be missing, and an explanation empty. Raises `InvalidInput` for an
    unknown caption or video, a bad label or explanation, and a pair that comes twice.
    """
    table = CsvTable(
        TextBlocks(path, source=source, progress=progress, max_bytes=MAX_BYTES),
        ("caption_id", "video_id", "label"),
        ("explanation",),
    )
    rows = list(_rows(table, query_numbers, video_numbers))
    if not rows:
        table.refuse("there is a header but no item", 1)
    lines, queries, videos, relevant, explanations = zip(*rows, strict=True)
    return GoldFile(
        queries=np.array(queries, dtype=np.int32),
        videos=np.array(videos, dtype=np.int32),
        relevant=np.array(relevant, dtype=np.bool_),
        explanations=explanations,
        lines=lines,
        source=table.blocks.source,
    )


def _rows(
    table: CsvTable, query_numbers: Mapping[str, int], video_numbers: Mapping[str, int]
) -> Iterator[tuple[int, int, int, bool, str]]:
    """Line, caption, video, truth and explanation of each item."""
    seen: dict[tuple[int, int], int] = {}
    for line, (query_key, video_key, label, explanation) in table:
        fault = (
            _key_fault(query_key, "caption", query_numbers)
            or _key_fault(video_key, "video", video_numbers)
            or _label_fault(label)
            or explanation_fault(explanation)
        )
        if fault:
            table.refuse(fault, line)
        pair = query_numbers[query_key], video_numbers[video_key]
        if pair in seen:
            table.refuse(f"the pair is in line {seen[pair]} already", line)
        seen[pair] = line
        yield line, *pair, _LABELS[label], explanation


def explanation_fault(text: str) -> str | None:
    """Why `text` cannot be stored as an explanation, or None; it may be empty."""
    return text_fault(text, "explanation", longest=EXPLANATION_LENGTH) if text else None


def _key_fault(key: str, what: str, numbers: Mapping[str, int]) -> str | None:
    if key in numbers:
        return None
    return key_fault(key, what) or f"unknown {what} {shown(key)}"


def _label_fault(label: str) -> str | None:
    if label in _LABELS:
        return None
    return f"the label {shown(label)} is none of {', '.join(_LABELS)}"
