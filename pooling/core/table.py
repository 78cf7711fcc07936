"""CSV files with a header row, read record by record from checked text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NoReturn

from config.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import TextBlocks


class CsvTable:
    """The records of a CSV file as tuples of the columns asked for, in the order asked for.

    The header may name them in any order. Further columns are left out and named in `notes`; an
    optional column that is absent reads as "". Quoted fields may hold newlines: `line` is where a
    record starts. Lines with nothing in them are skipped. `header` is known from the first record
    on.

    Raises `InvalidInput` for a missing or repeated column, a record of another length than the
    header, quotes that do not close, and all that `TextBlocks` refuses.
    """

    def __init__(
        self, blocks: TextBlocks, required: Sequence[str], optional: Sequence[str] = ()
    ) -> None:
        self.blocks = blocks
        self.notes: tuple[str, ...] = ()
        self.header: tuple[str, ...] = ()
        self._required = tuple(required)
        self._wanted = (*required, *optional)
        self._reader = csv.reader(blocks.text_lines(), strict=True)

    def __iter__(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        records = self._records()
        line, header = next(records, (1, []))
        self._check_header(header, line)
        # One empty field more stands for every optional column that the file does not have.
        absent = len(header)
        places = [header.index(n) if n in header else absent for n in self._wanted]
        pick = itemgetter(*places)
        for line, record in records:
            if len(record) != absent:
                reason = f"{len(record)} columns where the header has {absent}"
                self.refuse(reason, line)
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
            self.refuse(f"not a CSV record: {error}", line)

    def _check_header(self, header: list[str], line: int) -> None:
        for name in self._required:
            if name not in header:
                self.refuse(f"the header has no column {shown(name)}", line)
        for name in header:
            if header.count(name) > 1:
                self.refuse(f"the header has the column {shown(name)} twice", line)
        unused = [shown(name) for name in header if name not in self._wanted]
        if unused:
            self.notes = (f"columns not used: {', '.join(unused)}",)
        self.header = tuple(header)

    def refuse(self, reason: str, line: int) -> NoReturn:
        raise InvalidInput(reason, source=self.blocks.source, line=line)
