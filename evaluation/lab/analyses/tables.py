"""Tables of results, for pages, terminals and CSV files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlencode

from evaluation.core.files import latex
from hearth.shared import tables
from hearth.shared.numbers import MINUS
from hearth.shared.tables import csv_text

Row: TypeAlias = Mapping[str, Any]
"""A row of a table or of a chart's data. The keys of columns and encodings select its values."""

# Maximum number of rows on a page. With more rows, the page takes long to load.
ROWS_MAX = 500
# The height of a track of a timeline, in pixels.
TRACK = 10


@dataclass(frozen=True, slots=True)
class Column(tables.Column):
    """A column of a result.

    compared: returns the options of the comparison to which the cell of a row links; empty if the
    cell has no link. None if no cell of the column has a link.
    names: "caption" or "video" if the cell links to the page of the row's caption or video.
    tracks: the columns of the row whose intervals of seconds the cell draws, below each other on a
    timeline of its value. Only pages have such a column.
    """

    compared: Callable[[Row], Mapping[str, Any]] | None = None
    names: str = ""
    tracks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval on a timeline: the number of its track, its top in pixels, and its place in %."""

    track: int
    top: int
    left: str
    width: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as a page shows it.

    is_number: whether the column contains numbers.
    sorted_by: the value by which the page sorts the rows, for an interval its lower end.
    query: options of the comparison, encoded for an address.
    page, page_query: URL name and parameters of the page of a caption or video, or empty.
    bars, height: the intervals of a timeline, and its height in pixels; empty for other cells.
    """

    is_number: bool
    text: str
    sorted_by: Any
    query: str
    page: str
    page_query: str
    bars: Sequence[Bar] = ()
    height: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a result.

    Rows are JSON objects that contain the keys of the columns. An undefined cell is null.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""

    @property
    def visible_rows(self) -> list[list[Cell]]:
        return [[_cell(column, row) for column in self.columns] for row in self.rows[:ROWS_MAX]]

    @property
    def written(self) -> list[Column]:
        """The columns that files and terminals have."""
        return [column for column in self.columns if not column.tracks]

    @property
    def n_hidden(self) -> int:
        """Number of rows that a page does not show. Files have all rows."""
        return max(0, len(self.rows) - ROWS_MAX)

    def csv(self, source: Mapping[str, Any]) -> str:
        """Return the table as CSV. An interval takes two columns, and each row ends with `source`.

        source: the inputs of the result, by column name.
        """
        intervals = {
            column.key
            for column in self.written
            if any(isinstance(row[column.key], list) for row in self.rows)
        }
        heads = [
            head
            for column in self.written
            for head in (
                (f"{column.key}_low", f"{column.key}_high")
                if column.key in intervals
                else (column.key,)
            )
        ]
        rows = (
            [
                value
                for column in self.written
                for value in _file_cells(row[column.key], column.key in intervals)
            ]
            for row in self.rows
        )
        return csv_text([*heads, *source], ([*row, *source.values()] for row in rows))

    def latex(self, label: str, source: Mapping[str, Any]) -> str:
        """Return the table in LaTeX, with the numbers as on the page.

        label: the label for `\\ref`. source: the inputs of the result, as comments.
        """
        content = latex.Table(
            f"tab:{label}",
            _as_latex(f"{self.title}. {self.note}".strip()),
            [_as_latex(column.title) for column in self.written],
            [[_latex_of(row[column.key], column) for column in self.written] for row in self.rows],
            "".join("r" if column.is_number else "l" for column in self.written),
        )
        inputs = (f"% {name}: {' '.join(str(value).split())}\n" for name, value in source.items())
        return "".join(["% Needs \\usepackage{booktabs}.\n", *inputs, latex.table(content)])


def _latex_of(value: Any, column: Column) -> str:
    """Return a cell as a page shows it, in LaTeX."""
    return latex.UNDEFINED if value is None else _as_latex(column.format(value))


def _as_latex(text: str) -> str:
    return latex.escape(text).replace(latex.escape(MINUS), "$-$")


def _cell(column: Column, row: Row) -> Cell:
    value = row[column.key]
    if column.tracks:
        bars = [_bar(track, row[key], value) for track, key in enumerate(column.tracks)]
        return Cell(False, "", None, "", "", "", bars, len(bars) * TRACK)
    query = urlencode(column.compared(row), doseq=True) if column.compared else ""
    sorted_by = value[0] if isinstance(value, list) else value
    page_query = urlencode({"id": row[f"{column.names}_id"]}) if column.names else ""
    return Cell(column.is_number, column.format(value), sorted_by, query, column.names, page_query)


def _bar(track: int, ends: Sequence[float], length: float) -> Bar:
    # A very short interval stays visible.
    left, width = 100 * ends[0] / length, max(0.5, 100 * (ends[1] - ends[0]) / length)
    return Bar(track, track * TRACK, f"{min(99.5, left):.2f}%", f"{width:.2f}%")


def _file_cells(value: Any, is_interval: bool) -> list[Any]:
    if is_interval:
        return [None, None] if value is None else list(value)
    return [value]
