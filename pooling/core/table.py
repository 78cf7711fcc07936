"""CSV files with a header row, read from checked text."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import NoReturn

from config.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import TextBlocks, lines_of
from pooling.core.problems import Problems

ROWS_PER_PART = 20_000

Part = tuple[Sequence[int], Sequence[Sequence[str]]]
"""The line numbers of some records, and their values column by column."""


class CsvTable:
    """An iterable over the records of a CSV file: line number, and a tuple of column values.

    The tuple has the required columns and then the optional columns. Their order in the header does
    not matter. `named` maps a column to the name that it has in this file, if the names differ. A
    missing optional column is "". Further columns are ignored and named in `notes`. The line number
    is that of the start of a record, because quoted fields may contain newlines. Empty lines are
    skipped. `header` is set when the first record is read.

    Raises `InvalidInput` if a column is missing or repeated, if a quote is not closed, or if
    `TextBlocks` refuses the file. A record with a different number of columns than the header
    is added to `problems` and skipped. If `problems` is None, such a record raises `InvalidInput`.
    """

    def __init__(
        self,
        blocks: TextBlocks,
        required: Sequence[str],
        optional: Sequence[str] = (),
        *,
        named: Mapping[str, str] | None = None,
        delimiter: str = ",",
        problems: Problems | None = None,
    ) -> None:
        self.blocks = blocks
        self.notes: tuple[str, ...] = ()
        self.header: tuple[str, ...] = ()
        named = named or {}
        self._required = tuple(named.get(name, name) for name in required)
        self._columns = (*self._required, *(named.get(name, name) for name in optional))
        self._problems = problems or Problems(stop_at=1)
        self._delimiter = delimiter

    def __iter__(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        return self._rows(map(bytes.decode, self.blocks))

    def parts(self) -> Iterator[Part]:
        """Yield the records in parts, which is much faster than one record at a time.

        Blocks are split without the CSV reader, which is slow. If a block needs the CSV reader, for
        example because of quotes, the CSV reader reads this block and the rest of the file.
        """
        texts = map(bytes.decode, self.blocks)
        for text in texts:
            part = self._split(text)
            if part is None:
                rows = self._rows(chain([text], texts))
                while some := list(islice(rows, ROWS_PER_PART)):
                    lines, values = zip(*some, strict=True)
                    yield lines, list(zip(*values, strict=True))
                return
            yield part

    def _split(self, text: str) -> Part | None:
        """Return the records of a block, or None if the block needs the CSV reader.

        A block needs it if the block contains a quote, has a single column, or has a line with a
        different number of cells. The whole block is split at once. An added cell with NUL, which
        no block contains, marks the end of each line.
        """
        delimiter = self._delimiter
        width = len(self.header) or 1 + text.partition("\n")[0].count(delimiter)
        cells = text.replace("\n", f"{delimiter}\0{delimiter}").split(delimiter)[:-1]
        ends = cells[width :: width + 1]
        if (
            '"' in text
            or width == 1
            or len(cells) != len(ends) * (width + 1)
            or set(ends) != {"\0"}
        ):
            return None
        columns = [cells[place :: width + 1] for place in range(width)]
        lines = range(self.blocks.lines_before + 1, self.blocks.lines_before + len(ends) + 1)
        if not self.header:
            self._check_header([column.pop(0) for column in columns], lines[0])
            lines = lines[1:]
        missing = [""] * len(lines)
        of_name = dict(zip(self.header, columns, strict=True))
        return lines, [of_name.get(name, missing) for name in self._columns]

    def _rows(self, texts: Iterable[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
        records = self._records(texts)
        if not self.header:
            line, header = next(records, (1, []))
            self._check_header(header, line)
        # An extra empty field at the end of each record is the value of all missing columns.
        width = len(self.header)
        places = [self.header.index(n) if n in self.header else width for n in self._columns]
        pick = itemgetter(*places)
        for line, record in records:
            if len(record) != width:
                reason = f"the row has {len(record)} columns, but the header has {width}"
                self._problems.add(reason, self.blocks.source, line)
                continue
            record.append("")
            yield line, pick(record)

    def _records(self, texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        before = self.blocks.lines_before
        lines = chain.from_iterable(map(lines_of, texts))
        reader = csv.reader(lines, strict=True, delimiter=self._delimiter)
        line = before + 1
        try:
            for record in reader:
                if record:
                    yield line, record
                line = before + reader.line_num + 1
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
