"""Tables that are sorted by a click on a head, split into pages and downloaded as CSV.

A view declares its columns once, reads the requested `Order` from the address and sorts its rows,
in Python or in the database. The block tag `table` of `hearth.shared.table_tags` writes the table.
The template `_page_links.html` writes the number of rows and the links to other pages.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import F, Model, QuerySet
from django.db.models.expressions import Combinable

from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import format_value

Row = TypeVar("Row")
M = TypeVar("M", bound=Model)

ROWS_PER_PAGE = 50
ROWS_PER_CSV_PART = 1000
# Spreadsheets read a text as a formula if it begins with one of these.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# An id such as -abc_12 begins like a formula, but cannot call anything. So it stays as it is, and a
# program finds it again.
_HARMLESS = re.compile(r"[-+@][\w .:/#-]*")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    key: its name in addresses and rows. title: its head on a page. kind: how its values are
    written, a key of `hearth.shared.numbers.FORMATS`. is_sortable: whether its head is a link.
    highest_first: whether the first click on its head sorts from the highest value. For numbers and
    times this is the default, unless `lowest_first` is set.
    """

    key: str
    title: str
    kind: str = "text"
    is_sortable: bool = True
    highest_first: bool = False
    lowest_first: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind not in ("text", "time")

    def format(self, value: Any) -> str:
        return format_value(value, self.kind)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column, for the template `_table.html`.

    next_sort: the `sort` parameter that a click requests; empty if the column is not sortable.
    order: the value of `aria-sort`; empty if the table is sorted by another column. is_visible:
    whether the title is shown, and not only announced by screen readers.
    """

    column: Column
    next_sort: str
    order: str = ""
    is_visible: bool = True


@dataclass(frozen=True, slots=True)
class Order:
    """The column that a table is sorted by, and the direction."""

    columns: Sequence[Column]
    key: str
    descending: bool

    @classmethod
    def requested(cls, text: str, columns: Sequence[Column], default: str) -> Order:
        """Read a `sort` parameter: a column's key, with a minus sign in front if descending.

        An empty parameter stands for the default. Raises `InvalidInput` for any other text.
        """
        text = text or default
        key = text.removeprefix("-")
        keys = [column.key for column in columns if column.is_sortable]
        if key not in keys:
            raise InvalidInput(f"The order must be one of {', '.join(keys)}, not {text[:50]!r}.")
        return cls(columns, key, text.startswith("-"))

    @property
    def heads(self) -> list[Head]:
        return [self._head(column) for column in self.columns]

    def _head(self, column: Column) -> Head:
        if not column.is_sortable:
            return Head(column, "")
        if column.key != self.key:
            is_number = column.kind != "text" and not column.lowest_first
            is_descending = column.highest_first or is_number
            return Head(column, f"-{column.key}" if is_descending else column.key)
        if self.descending:
            return Head(column, column.key, "descending")
        return Head(column, f"-{column.key}", "ascending")

    def sort(self, rows: Iterable[Row], value: Callable[[Row, str], Any]) -> list[Row]:
        """Return the rows in this order. Equal rows keep their order.

        value: returns the value by which a row is sorted, from the row and the key of a column.
        Rows whose value is None come last in either direction.
        """
        pairs = [(value(row, self.key), row) for row in rows]
        defined = [pair for pair in pairs if pair[0] is not None]
        defined.sort(key=lambda pair: pair[0], reverse=self.descending)
        return [row for _, row in defined] + [row for number, row in pairs if number is None]

    def sort_query(
        self,
        rows: QuerySet[M],
        fields: Mapping[str, str | Combinable],
        ties: str | Combinable = "pk",
    ) -> QuerySet[M]:
        """Return the rows of a queryset in this order. NULL comes last in either direction.

        fields: the field or expression by which the database sorts, for each column's key. ties:
        the fields by which equal rows are sorted.
        """
        field = fields[self.key]
        expression: Any = F(field) if isinstance(field, str) else field
        ordered = (
            expression.desc(nulls_last=True) if self.descending else expression.asc(nulls_last=True)
        )
        return rows.order_by(ordered, ties)


def page_of(
    rows: Sequence[Row] | QuerySet[Any], number: str | None, per_page: int = ROWS_PER_PAGE
) -> Page[Any]:
    """Return one page of rows. A number out of range returns the nearest page."""
    return Paginator(rows, per_page).get_page(number)


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a CSV file with Unix line ends.

    None becomes an empty cell. Floats keep all their digits. Texts that a spreadsheet would read as
    a formula get an apostrophe in front, except ids such as `-abc_12`.
    """
    return "".join(csv_parts(heads, rows))


def csv_parts(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a CSV file as `csv_text` returns it, part by part."""
    yield _csv_lines([heads])
    remaining = iter(rows)
    while part := list(islice(remaining, ROWS_PER_CSV_PART)):
        yield _csv_lines([_cell(value) for value in row] for row in part)


def _csv_lines(rows: Iterable[Sequence[Any]]) -> str:
    rows = list(rows)
    lines = _written(rows, "\n")
    # With this line end, csv does not quote a carriage return, which many programs read as the end
    # of the line. The next line could then begin with a formula.
    if "\r" in lines:
        return "".join(_written([row], "\r\n").removesuffix("\r\n") + "\n" for row in rows)
    return lines


def _written(rows: Iterable[Sequence[Any]], line_end: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=line_end).writerows(rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return plain_text(value) if isinstance(value, str) else value


def plain_text(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula that calls something."""
    if text.startswith(FORMULA_STARTS) and not _HARMLESS.fullmatch(text):
        return f"'{text}"
    return text
