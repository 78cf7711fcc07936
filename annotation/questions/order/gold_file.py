"""Files of control orders, with the columns `video_id,caption_id,step,explanation`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from annotation.core.readers.gold import MAX_BYTES, MAX_ITEMS
from annotation.questions.order.orders import CAPTIONS
from pooling.core.keys import key_fault, shown
from pooling.core.lines import Progress, TextBlocks
from pooling.core.table import CsvTable

STEPS = {str(step + 1): step for step in range(CAPTIONS)}


@dataclass(frozen=True, slots=True)
class ControlOrder:
    """The keys of a video and its captions, and the step of each caption from 0.

    line: the first line of the video in a file; None if the order is not from a file.
    """

    video: str
    captions: Sequence[str]
    steps: Sequence[int]
    explanation: str = ""
    line: int | None = None


def parse_control_orders(
    path: Path, *, progress: Progress | None = None, source: str | None = None
) -> tuple[list[ControlOrder], str]:
    """Read control orders from a plain or gzipped file. Return them and the name of the file.

    Each line has one caption of a video, with its step. Captions of step 1 are the most similar.
    The column `explanation` is optional; the first line of a video contains the explanation of its
    order. Raises `InvalidInput` for an invalid key or step, and for a video without exactly five
    captions.
    """
    table = CsvTable(
        TextBlocks(path, source=source, progress=progress, max_bytes=MAX_BYTES),
        ("video_id", "caption_id", "step"),
        ("explanation",),
    )
    by_video: dict[str, list[_Row]] = {}
    for row in _rows(table):
        if row.video not in by_video and len(by_video) == MAX_ITEMS:
            table.refuse(f"more than {MAX_ITEMS:,} control orders", row.line)
        by_video.setdefault(row.video, []).append(row)
    if not by_video:
        table.refuse("the file has a header but no control orders", 1)
    for video, rows in by_video.items():
        if len(rows) != CAPTIONS:
            reason = f"the video {shown(video)} must have {CAPTIONS} captions, not {len(rows):,}"
            table.refuse(reason, rows[0].line)
    return [_order(rows) for rows in by_video.values()], table.blocks.source


class _Row(NamedTuple):
    line: int
    video: str
    caption: str
    step: int
    explanation: str


def _order(rows: list[_Row]) -> ControlOrder:
    first = rows[0]
    captions, steps = [row.caption for row in rows], [row.step for row in rows]
    return ControlOrder(first.video, captions, steps, first.explanation, first.line)


def _rows(table: CsvTable) -> Iterator[_Row]:
    """Yield the lines of the file. Steps are from 0."""
    for line, (video, caption, step, explanation) in table:
        fault = key_fault(video, "video") or key_fault(caption, "caption")
        if fault is None and step not in STEPS:
            fault = f"the step must be from 1 to {CAPTIONS}, not {shown(step)}"
        if fault:
            table.refuse(fault, line)
        yield _Row(line, video, caption, STEPS[step], explanation)
