"""Tables with a header row, read from checked text. All uses of tables have this one reader."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import NoReturn

from hearth.shared.delimited import (
    delimiter_of,
    filled_width,
    heads_of,
    looks_like,
    stated_delimiter,
)
from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import TextBlocks, lines_of
from pooling.core.problems import Problems
from pooling.core.readers.layouts import layout_of_other

ROWS_PER_PART = 20_000
HEAD_CHARACTERS = 1 << 16

Part = tuple[Sequence[int], Sequence[Sequence[str]]]
"""The line numbers of some records, and their values column by column."""


class CsvTable:
    """An iterable over the records of a table: line number, and a tuple of column values.

    The tuple has the required columns and then the optional columns. Their order in the header does
    not matter. A missing optional column is "". Further columns are named in `notes`, unless they
    are in `ignored`. The line number is that of the start of a record, because quoted fields may
    contain newlines. `header` is set when the first record is read.

    delimiter: by default, the one of the header: a comma, a semicolon or a tab. What spreadsheets
    leave behind is skipped: a first line such as `sep=;`, rows without values, and columns at the
    end without a name and values. header: the names of the columns of a file without a header.

    Raises `InvalidInput` if a column is missing, repeated or misspelt, if the file has another
    layout, if a quote is not closed, or if `TextBlocks` refuses the file. A record with a different
    number of columns than the header is added to `problems` and skipped. If `problems` is None,
    such a record raises `InvalidInput`.
    """

    def __init__(
        self,
        blocks: TextBlocks,
        required: Sequence[str],
        optional: Sequence[str] = (),
        *,
        ignored: Sequence[str] = (),
        delimiter: str = "",
        problems: Problems | None = None,
        header: Sequence[str] | None = None,
    ) -> None:
        self.blocks = blocks
        self.notes: tuple[str, ...] = ()
        self.header: tuple[str, ...] = ()
        self._given = header
        self.delimiter = delimiter
        self._required = tuple(required)
        self._columns = (*required, *optional)
        self._ignored = tuple(ignored)
        self._problems = problems or Problems(stop_at=1)
        self._head = ""
        self._width = 0  # the number of cells of the header, with those that have no name

    def __iter__(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        if self._given is not None:
            self._check_header(list(self._given), 1)
        return self._rows(self._texts())

    def parts(self) -> Iterator[Part]:
        """Yield the records in parts, which is much faster than one record at a time.

        Blocks are split without the CSV reader, which is slow. If a block needs the CSV reader, for
        example because a row has no values, the CSV reader reads this block. If the block has a
        quote, the CSV reader also reads the rest of the file.
        """
        texts = self._texts()
        for text in texts:
            if part := self._split(text):
                yield part
                continue
            rows = self._rows(chain([text], texts) if '"' in text else [text])
            while some := list(islice(rows, ROWS_PER_PART)):
                lines, values = zip(*some, strict=True)
                yield lines, list(zip(*values, strict=True))

    def _texts(self) -> Iterator[str]:
        for number, block in enumerate(self.blocks):
            text = block.decode()
            yield text if number else self._begin(text)

    def _begin(self, text: str) -> str:
        """Find the delimiter in the first block, and return the block without `sep=`."""
        stated, text = stated_delimiter(text)
        self.delimiter = self.delimiter or stated or delimiter_of(text, self._columns)
        self._head = text[:HEAD_CHARACTERS]
        return text

    def _split(self, text: str) -> Part | None:
        """Return the records of a block, or None if the block needs the CSV reader.

        A block needs it if the block contains a quote, has a single column, or has a line without
        values or with a different number of cells. The whole block is split at once. An added cell
        with NUL, which no block contains, marks the end of each line.
        """
        delimiter = self.delimiter
        if '"' in text:
            return None
        width = self._width or 1 + text.partition("\n")[0].count(delimiter)
        cells = text.replace("\n", f"{delimiter}\0{delimiter}").split(delimiter)[:-1]
        ends = cells[width :: width + 1]
        if width == 1 or len(cells) != len(ends) * (width + 1) or set(ends) != {"\0"}:
            return None
        if len(ends) != text.count("\n"):  # several empty lines have the cells of one row
            return None
        columns = [cells[place :: width + 1] for place in range(width)]
        named = len(self.header) or filled_width([column[0] for column in columns])
        if any(map(str.strip, chain.from_iterable(columns[named:]))) or _has_blank_row(columns):
            return None
        lines = range(self.blocks.lines_before + 1, self.blocks.lines_before + len(ends) + 1)
        if not self.header:
            self._check_header([column.pop(0) for column in columns], lines[0])
            lines = lines[1:]
        missing = [""] * len(lines)
        of_name = dict(zip(self.header, columns, strict=False))
        return lines, [of_name.get(name, missing) for name in self._columns]

    def _rows(self, texts: Iterable[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
        records = self._records(texts)
        if not self.header:
            line, header = next(records, (1, []))
            self._check_header(header, line)
        # An extra empty field at the end of each record is the value of all missing columns.
        width = len(self.header)
        places = [self.header.index(n) if n in self.header else width for n in self._columns]
        pick = itemgetter(*places) if len(places) > 1 else lambda record: (record[places[0]],)
        for line, record in records:
            if len(record) != width:
                found = len(record) if len(record) < width else max(width, filled_width(record))
                if found != width:
                    reason = f"the row has {found} columns, but the header has {width}"
                    self._problems.add(reason, self.blocks.source, line)
                    continue
                del record[width:]
            record.append("")
            yield line, pick(record)

    def _records(self, texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that have a value, each with its line."""
        texts = iter(texts)
        first = next(texts, "")  # the delimiter is found in it
        before = self.blocks.lines_before
        lines = chain.from_iterable(map(lines_of, chain([first], texts)))
        reader = csv.reader(lines, strict=True, delimiter=self.delimiter)
        line = before + 1
        try:
            for record in reader:
                if record and (record[0].strip() or self._has_value(record)):
                    yield line, record
                line = before + reader.line_num + 1
        except csv.Error as error:
            self.refuse(f"this is not a row of CSV: {error}", line)

    def _has_value(self, record: list[str]) -> bool:
        """Return whether a row has a value. In a single column, an empty value can be meant."""
        return len(self.header) == 1 or any(map(str.strip, record))

    def _check_header(self, cells: list[str], line: int) -> None:
        header = heads_of(cells)
        for name in self._columns:
            if name not in header:
                self._check_missing(name, header, line)
        for name in header:
            if name and header.count(name) > 1:
                self.refuse(f"the header has the column {shown(name)} twice", line)
        unused = [n for n in header if n not in self._columns and n not in self._ignored]
        if unused:
            self.notes = (f"columns not used: {', '.join(map(shown, unused))}",)
        self.header, self._width = tuple(header), len(cells)

    def _check_missing(self, name: str, header: Sequence[str], line: int) -> None:
        """Refuse a header without a required column, or in which another name looks like one."""
        others = [head for head in header if head not in (*self._columns, *self._ignored)]
        alike = next((head for head in others if looks_like(head, name)), None)
        is_required = name in self._required
        if is_required and (layout := layout_of_other(self._head)):
            self.refuse(f"this is {layout}, not a table with the column {shown(name)}", line)
        if alike is not None:
            self.refuse(
                f"the header has no column {shown(name)}, but {shown(alike)}; correct the name",
                line,
            )
        if is_required:
            self.refuse(f"the header has no column {shown(name)}", line)

    def refuse(self, reason: str, line: int) -> NoReturn:
        raise InvalidInput(reason, source=self.blocks.source, line=line)


def _has_blank_row(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether a row has no value. Rows are looked at if the first column has a gap."""
    if all(map(str.strip, columns[0])):
        return False
    return any(not any(map(str.strip, row)) for row in zip(*columns, strict=True))
