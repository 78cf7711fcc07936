"""Tables without a header. Their columns are selected by their numbers, from 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import HEADLESS, BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.benchmarks.table import (
    PREVIEW_ROWS,
    TEXT,
    VIDEO,
    TableHead,
    read_table,
    table_head,
)
from pooling.core.readers.registry import Fit, Head


def headless_head(head: Head) -> TableHead:
    """Return the start of a table whose first line is a row."""
    found = table_head(head)
    rows = (found.columns, *found.rows)[:PREVIEW_ROWS]
    numbers = tuple(str(number + 1) for number in range(len(found.columns)))
    return replace(found, format=HEADLESS, columns=numbers, rows=rows)


def head_of(file: SourceFile, format: str) -> TableHead:
    """Return the start of a table in one of the formats whose columns can be selected."""
    return (headless_head if format == HEADLESS else table_head)(Head.of(file))


def has_columns(file: SourceFile, format: str, names: Iterable[str]) -> bool:
    """Return whether a table has all columns, which can be joined by `+`."""
    head = head_of(file, format)
    return all(part in head.columns for name in names for part in head.parts_of(name, "") if name)


def _read(
    files: Mapping[str, SourceFile], columns: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    file = files[HEADLESS]
    head = headless_head(Head.of(file))
    missing = [name for name in (TEXT, VIDEO) if name not in columns]
    if missing:
        reason = (
            f"the table has no header, so choose its columns by their numbers, 1 to "
            f"{len(head.columns)}: {' and '.join(f'{name}=NUMBER' for name in missing)}"
        )
        raise InvalidInput(reason, source=file.source, line=1)
    return read_table(file, columns, problems, head)


ROWS: Final = Part(HEADLESS, "table without a header", lambda _: Fit.NO, has_columns=True)
READER: Final = BenchmarkReader(
    name=HEADLESS,
    title="Table without a header",
    place=6,
    about="CSV or TSV whose first line is a row. You choose the columns on the plan.",
    combinations=[[ROWS]],
    files="a table without a header",
    option="a table without a header; choose its columns by number: --column caption=2",
    read=_read,
)
