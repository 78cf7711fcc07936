"""Phrasings in JSON lines, with the keys of the columns of a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks.json_lines import JsonLinesFile
from pooling.core.readers.benchmarks.objects import ObjectTable
from pooling.core.readers.registry import Fit, Head, Reader
from pooling.phrasings.core.readers import (
    COLUMNS,
    MAX_BYTES,
    PHRASINGS,
    PhrasingFile,
    checked_rows,
    problems_of,
)


def _fits(head: Head) -> Fit:
    return Fit.SURE if head.text.startswith("{") else Fit.NO


def _read(file: SourceFile, captions: Collection[str]) -> PhrasingFile:
    """Read JSON lines. `text` can be a list of texts. Raises `InvalidInput`."""
    problems = problems_of(file)
    blocks = file.blocks(max_bytes=MAX_BYTES)
    names = ("caption_id", "text")
    lines = ObjectTable(JsonLinesFile(blocks), blocks.source, names, COLUMNS, problems)
    return PhrasingFile(checked_rows(lines, captions, problems), blocks.sha256, lines.notes)


READER: Final = Reader(
    kind=PHRASINGS.kind,
    name="jsonl",
    title="JSON lines with caption_id, phrasing, text and origin",
    about="One object for each phrasing, with the keys of the columns of a table. Without "
    "phrasing, text can be a list of texts.",
    example='{"caption_id": "c1", "phrasing": 1, "text": "a boy plugs in a computer", '
    '"origin": "person"}',
    read=_read,
    fits=_fits,
)
