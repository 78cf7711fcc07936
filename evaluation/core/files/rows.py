"""Rows of the files of a label set, block by block, as CSV for spreadsheets and as JSON lines.

Only one block of rows is in memory at a time, so files can have any length.
"""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from json.encoder import encode_basestring
from typing import BinaryIO, TypeAlias

ROWS_PER_BLOCK = 20_000
# Spreadsheets read a file as UTF-8 only if it begins with this mark.
BYTE_ORDER_MARK = "\ufeff"

Block: TypeAlias = Sequence[Sequence[str]]


class Kind(enum.Enum):
    """The type of the cells of a column. An empty cell of a number stands for no value.

    Numbers are integers, and seconds have decimals.
    """

    TEXT = enum.auto()
    NUMBER = enum.auto()
    SECONDS = enum.auto()
    FLAG = enum.auto()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. may_be_empty: whether a number can have no value."""

    name: str
    kind: Kind = Kind.TEXT
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A table whose rows are read once, as blocks of cells in the order of the columns."""

    columns: Sequence[Column]
    blocks: Iterable[Block]

    def with_cell_of_first(self, column: Column, cells: Mapping[str, str]) -> Rows:
        """Return the table with one more column at the end.

        cells: maps the first cell of a row to the cell of this row in the new column.
        """
        blocks = ([[*row, cells[row[0]]] for row in block] for block in self.blocks)
        return Rows([*self.columns, column], blocks)


def read_blocks(stream: BinaryIO) -> Iterator[Block]:
    """Yield the rows of a CSV file in UTF-8, without its header."""
    rows = csv.reader(io.TextIOWrapper(stream, "utf-8", newline=""))
    next(rows)
    while block := list(islice(rows, ROWS_PER_BLOCK)):
        yield block


def csv_lines(rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows as lines of CSV."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def spreadsheet(rows: Rows, plain_text: Callable[[str], str]) -> Iterator[bytes]:
    """Yield the table as CSV for spreadsheets.

    plain_text: returns the text of a cell as one that no spreadsheet reads as a formula.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    out.write(BYTE_ORDER_MARK)
    writer.writerow([column.name for column in rows.columns])
    for block in rows.blocks:
        writer.writerows([plain_text(cell) for cell in row] for row in block)
        yield out.getvalue().encode()
        out.seek(0)
        out.truncate()
    yield out.getvalue().encode()


def json_lines(rows: Rows) -> Iterator[bytes]:
    """Yield the table as JSON lines: one object per row. An empty cell for a number is null."""
    names = (encode_basestring(column.name).replace("%", "%%") for column in rows.columns)
    line = "{" + ", ".join(f"{name}: %s" for name in names) + "}\n"
    for block in rows.blocks:
        cells = [
            map(encode_basestring, cells)
            if column.kind is Kind.TEXT
            else [cell or "null" for cell in cells]
            for column, cells in zip(rows.columns, zip(*block, strict=True), strict=True)
        ]
        yield "".join(map(line.__mod__, zip(*cells, strict=True))).encode()
