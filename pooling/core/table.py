"""CSV files with a header row, read record by record from checked text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NoReturn

from config.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import TextBlocks
from pooling.core.refusals import Refusals


class CsvTable:
    """An iterable over the records of a CSV file: line number, and a tuple of column values.

    The tuple has the required columns and then the optional columns. Their order in the header does
    not matter. `named` maps a column to the name that it has in this file, if that is another. A
    missing optional column is "". Further columns are ignored and named in `notes`. The line number
    is that of the start of a record, because quoted fields may contain newlines. Empty lines are
    skipped. `header` is set when the first record is read.

    Raises `InvalidInput` if a column is missing or repeated, if a quote is not closed, or if
    `TextBlocks` refuses the file. A record with another length than the header is added to
    `refusals`; without them, it is raised as well.
    """

    def __init__(
        self,
        blocks: TextBlocks,
        required: Sequence[str],
        optional: Sequence[str] = (),
        *,
        named: Mapping[str, str] | None = None,
        delimiter: str = ",",
        refusals: Refusals | None = None,
    ) -> None:
        self.blocks = blocks
        self.notes: tuple[str, ...] = ()
        self.header: tuple[str, ...] = ()
        named = named or {}
        self._required = tuple(named.get(name, name) for name in required)
        self._columns = (*self._required, *(named.get(name, name) for name in optional))
        self._refusals = refusals or Refusals.raised()
        self._reader = csv.reader(blocks.text_lines(), strict=True, delimiter=delimiter)

    def __iter__(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        records = self._records()
        line, header = next(records, (1, []))
        self._check_header(header, line)
        # An extra empty field at the end of each record is the value of all missing columns.
        width = len(header)
        places = [header.index(n) if n in header else width for n in self._columns]
        pick = itemgetter(*places)
        for line, record in records:
            if len(record) != width:
                reason = f"the row has {len(record)} columns, but the header has {width}"
                self._refusals.add(reason, self.blocks.source, line)
                continue
            record.append("")
            yield line, pick(record)

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        line = 1
        try:
            for record in self._reader:
                if record:
                    yield line, record
                line = self._reader.line_num + 1
        except csv.Error as error:
            self.refuse(f"this is not a row of CSV: {error}", line)

    def _check_header(self, header: list[str], line: int) -> None:
        for name in self._required:
            if name not in header:
                self.refuse(f"the header has no column {shown(name)}", line)
        for name in header:
            if header.count(name) > 1:
                self.refuse(f"the header has the column {shown(name)} twice", line)
        unused = [shown(name) for name in header if name not in self._columns]
        if unused:
            self.notes = (f"columns not used: {', '.join(unused)}",)
        self.header = tuple(header)

    def refuse(self, reason: str, line: int) -> NoReturn:
        raise InvalidInput(reason, source=self.blocks.source, line=line)
