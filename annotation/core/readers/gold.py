"""Files of gold items, with the columns `caption_id,video_id,label,explanation`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Int32s
from pooling.core.keys import key_fault, shown, text_fault
from pooling.core.lines import Progress, SourceFile
from pooling.core.readers.registry import Reader, Readers
from pooling.core.table import CsvTable

EXPLANATION_LENGTH = 2000
# Enough for thousands of items with long explanations.
MAX_BYTES = 64 << 20
MAX_ITEMS = 100_000

_LABELS = {"1": True, "0": False, "relevant": True, "irrelevant": False}
# Programs that store labels as fractions write 1.0.
_ALL_LABELS = {**_LABELS, "1.0": True, "0.0": False}


@dataclass(frozen=True, slots=True, eq=False)
class GoldFile:
    """The items of a file, in its order.

    queries, videos: int32 [n], the numbers of captions and videos in the benchmark. relevant: bool
    [n]. lines: the line of each item in the file. question: the kind of question that the items
    are of. answers, rows: the payload and further rows of each correct answer, if the kind has any.
    """

    queries: Int32s
    videos: Int32s
    relevant: npt.NDArray[np.bool_]
    explanations: tuple[str, ...]
    lines: tuple[int, ...]
    source: str
    question: str = "label"
    answers: tuple[Any, ...] = ()
    rows: tuple[Any, ...] = ()


Numbers = Mapping[str, int]
GOLD: Final = Readers[Reader[[Numbers, Numbers], GoldFile]]("gold", __package__)


def parse_gold(
    path: Path,
    *,
    query_numbers: Numbers,
    video_numbers: Numbers,
    progress: Progress | None = None,
    source: str | None = None,
) -> GoldFile:
    """Read gold items from a plain or gzipped file. Raises `InvalidInput`."""
    file = SourceFile.at(path, source, progress)
    return GOLD.choose(file).read(file, query_numbers, video_numbers)


def _read_table(file: SourceFile, query_numbers: Numbers, video_numbers: Numbers) -> GoldFile:
    """Read a CSV file.

    The label is `1` or `relevant`, or `0` or `irrelevant`. The column `explanation` and its values
    are optional. Raises `InvalidInput` for an unknown caption or video, an invalid label or
    explanation, or a repeated pair.
    """
    table = CsvTable(
        file.blocks(max_bytes=MAX_BYTES),
        ("caption_id", "video_id", "label"),
        ("explanation",),
    )
    rows = list(_rows(table, query_numbers, video_numbers))
    if not rows:
        table.refuse("the file has a header but no items", 1)
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
    """Yield line, caption, video, correct answer and explanation of each item."""
    seen: dict[tuple[int, int], int] = {}
    for line, (query_key, video_key, label, explanation) in table:
        fault = (
            pair_fault(query_key, video_key, query_numbers, video_numbers)
            or _label_fault(label)
            or explanation_fault(explanation)
        )
        if fault:
            table.refuse(fault, line)
        pair = query_numbers[query_key], video_numbers[video_key]
        if pair in seen:
            table.refuse(f"the pair is already in line {seen[pair]}", line)
        if len(seen) == MAX_ITEMS:
            table.refuse(f"more than {MAX_ITEMS:,} gold items", line)
        seen[pair] = line
        yield line, *pair, _ALL_LABELS[label], explanation


def explanation_fault(text: str) -> str | None:
    """Return why `text` is invalid as an explanation, or None. It can be empty."""
    return text_fault(text, "explanation", longest=EXPLANATION_LENGTH) if text else None


def pair_fault(query: str, video: str, queries: Numbers, videos: Numbers) -> str | None:
    """Return why the keys name no pair of the benchmark, or None."""
    return _key_fault(query, "caption", queries) or _key_fault(video, "video", videos)


def _key_fault(key: str, noun: str, numbers: Mapping[str, int]) -> str | None:
    if key in numbers:
        return None
    return key_fault(key, noun) or f"unknown {noun} {shown(key)}"


def _label_fault(label: str) -> str | None:
    if label in _ALL_LABELS:
        return None
    return f"the label must be one of {', '.join(_LABELS)}, not {shown(label)}"


READER: Final = Reader(
    kind=GOLD.kind,
    name="table",
    title="CSV with the columns caption_id,video_id,label,explanation",
    about="Each row is a gold item. 1 is relevant, 0 is not relevant. Training items show the "
    "correct answer and the explanation after the annotator’s answer. Control pairs never do. A "
    "pair cannot have both uses. Training items are added to the training queue if it is open. "
    "Control pairs are added to the campaigns that use them.",
    example='caption_id,video_id,label,explanation\nc1,v7,1,"the dog, the boy and the ball are '
    'there"\nc1,v9,0,the dog is there; the boy is a girl',
    read=_read_table,
)
