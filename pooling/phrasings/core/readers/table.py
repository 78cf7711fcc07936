"""Phrasings in a table: CSV with the columns `caption_id`, `phrasing`, `text` and `origin`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pooling.core.lines import SourceFile
from pooling.core.readers.registry import Head, Reader
from pooling.core.table import CsvTable
from pooling.phrasings.core.readers import (
    COLUMNS,
    MAX_BYTES,
    PHRASINGS,
    PhrasingFile,
    checked_rows,
    problems_of,
)


def _read(file: SourceFile, captions: Collection[str]) -> PhrasingFile:
    """Read a table. A column `query_id` is read as `caption_id`. Raises `InvalidInput`."""
    problems = problems_of(file)
    key = "query_id" if "query_id" in Head.of(file).first else "caption_id"
    blocks = file.blocks(max_bytes=MAX_BYTES)
    table = CsvTable(blocks, (key, "text"), COLUMNS, ignored=("video_id",), problems=problems)
    return PhrasingFile(checked_rows(table, captions, problems), blocks.sha256, table.notes)


READER: Final = Reader(
    kind=PHRASINGS.kind,
    name="table",
    title="CSV with the columns caption_id,phrasing,text,origin",
    about="One row for each phrasing. Its number is from 1; without the column phrasing, it is the "
    "next free one. Rows with the number 0 are the captions themselves, and must have their text. "
    "The origin is person, caption (another caption of the same video), lexicon or model. For "
    "phrasings by a language model, the columns model and prompt_sha256 have its name and the hash "
    "of its prompt.",
    example='caption_id,phrasing,text,origin\nc1,1,"a boy plugs in a computer",person',
    read=_read,
)
