"""Tables that people sort by a click on a head, page through and download as CSV.

One model for all pages: a view declares its columns once, reads the requested `Order` from the
address, and puts its rows into that order, in Python or by the database.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import F, Model, QuerySet
from django.db.models.expressions import Combinable

from config.shared.errors import InvalidInput
from config.shared.numbers import written

Row = TypeVar("Row")
M = TypeVar("M", bound=Model)

ROWS_PER_PAGE = 50
# Spreadsheets read a text that begins with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    key: its name in addresses, files and rows. title: its head on a page. kind: how its values are
    written, a name of `config.shared.numbers.FORMATS`.
    """

    key: str
    title: str
    kind: str = "text"

    @property
    def is_number(self) -> bool:
        return self.kind != "text"

    def written(self, value: Any) -> str:
        return written(value, self.kind)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column as the template `_table_heads.html` shows it.

    next_sort: the `sort` in the address after a click. order: the value of `aria-sort`, or nothing.
    """

    column: Column
    next_sort: str
    order: str


@dataclass(frozen=True, slots=True)
class Order:
    """The column by which a table is sorted, and the direction."""

    columns: Sequence[Column]
    key: str
    descending: bool

    @classmethod
    def requested(cls, text: str, columns: Sequence[Column], default: str) -> Order:
        """Read a `sort` parameter: a column's key, with a minus sign in front if descending.

        Raises `InvalidInput` for a key that no column has.
        """
        text = text or default
        key = text.removeprefix("-")
        keys = [column.key for column in columns]
        if key not in keys:
            raise InvalidInput(f"The order must be one of {', '.join(keys)}, not {text[:50]!r}.")
        return cls(columns, key, text.startswith("-"))

    @property
    def heads(self) -> list[Head]:
        return [self._head(column) for column in self.columns]

    def _head(self, column: Column) -> Head:
        """Return a head: numbers are first sorted from the highest, texts from A."""
        if column.key != self.key:
            return Head(column, f"-{column.key}" if column.is_number else column.key, "")
        if self.descending:
            return Head(column, column.key, "descending")
        return Head(column, f"-{column.key}", "ascending")

    def rows(self, rows: Iterable[Row], value: Callable[[Row, str], Any]) -> list[Row]:
        """Return the rows in this order.

        value: returns what a row is sorted by for a column's key. Equal rows keep their order. Rows
        without a value (None) come last in either direction.
        """
        pairs = [(value(row, self.key), row) for row in rows]
        known = [pair for pair in pairs if pair[0] is not None]
        known.sort(key=lambda pair: pair[0], reverse=self.descending)
        return [row for _, row in known] + [row for found, row in pairs if found is None]

    def query(self, rows: QuerySet[M], fields: Mapping[str, str | Combinable]) -> QuerySet[M]:
        """Return the rows of a query in this order, NULL last in either direction, ties by key.

        fields: what each column is sorted by in the database.
        """
        field = fields[self.key]
        expression: Any = F(field) if isinstance(field, str) else field
        ordered = (
            expression.desc(nulls_last=True) if self.descending else expression.asc(nulls_last=True)
        )
        return rows.order_by(ordered, "pk")


def page_of(rows: Sequence[Row] | QuerySet[Any], number: str | None) -> Page[Any]:
    """Return one page of rows; a number out of range is the nearest page."""
    return Paginator(rows, ROWS_PER_PAGE).get_page(number)


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a CSV file with Unix line ends.

    None becomes an empty cell, a float keeps all its digits, and a text that a spreadsheet would
    read as a formula gets an apostrophe in front.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return plain_text(value) if isinstance(value, str) else value


def plain_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
