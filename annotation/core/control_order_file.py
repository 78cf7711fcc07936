"""Files of control orders, with the columns `video_id,caption_id,step,explanation`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation.core.gold_file import MAX_BYTES, MAX_ITEMS
from annotation.core.orderings import CAPTIONS
from pooling.core.keys import key_fault, shown
from pooling.core.lines import Progress, TextBlocks
from pooling.core.table import CsvTable

STEPS = {str(step + 1): step for step in range(CAPTIONS)}


@dataclass(frozen=True, slots=True)
class ControlOrder:
    """The keys of a video and its captions, the step of each caption from 0, and the first line."""

    video: str
    captions: list[str]
    steps: list[int]
    explanation: str
    line: int


def parse_control_orders(
    path: Path, *, progress: Progress | None = None, source: str | None = None
) -> tuple[list[ControlOrder], str]:
    """Read control orders, plain or gzipped. Return them and the name of the file.

    Each video has a line for each of its captions, with a step from 1, the most similar. The column
    `explanation` is optional, and the first line of a video has its explanation. Raises
    `InvalidInput` for an invalid key or step, and for a video with another number of captions.
    """
    table = CsvTable(
        TextBlocks(path, source=source, progress=progress, max_bytes=MAX_BYTES),
        ("video_id", "caption_id", "step"),
        ("explanation",),
    )
    orders: dict[str, ControlOrder] = {}
    for line, video, caption, step, explanation in _rows(table):
        if video not in orders:
            if len(orders) == MAX_ITEMS:
                table.refuse(f"more than {MAX_ITEMS:,} control orders", line)
            orders[video] = ControlOrder(video, [], [], explanation, line)
        orders[video].captions.append(caption)
        orders[video].steps.append(step)
    if not orders:
        table.refuse("the file has a header but no control orders", 1)
    for order in orders.values():
        if (number := len(order.captions)) != CAPTIONS:
            reason = f"the video {shown(order.video)} must have {CAPTIONS} captions, not {number:,}"
            table.refuse(reason, order.line)
    return list(orders.values()), table.blocks.source


def _rows(table: CsvTable) -> Iterator[tuple[int, str, str, int, str]]:
    """Yield line, video, caption, step from 0, and explanation."""
    for line, (video, caption, step, explanation) in table:
        fault = key_fault(video, "video") or key_fault(caption, "caption")
        if fault is None and step not in STEPS:
            fault = f"the step must be from 1 to {CAPTIONS}, not {shown(step)}"
        if fault:
            table.refuse(fault, line)
        yield line, video, caption, STEPS[step], explanation
