"""Rules for tables in text files, as spreadsheets and programs write them.

The cells of a row are separated by commas, semicolons or tabs. Spreadsheets also write byte order
marks, a first line such as `sep=;`, rows without values, and columns without a name. All readers of
tables ignore these in the same way.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

DELIMITERS = (",", ";", "\t")
MARK = "\ufeff"
# Names with at least this ratio of equal characters are taken for the same name, misspelt.
_ALIKE = 0.9

_SEPARATOR_LINE = re.compile(r'"?sep=([^"\r\n])"?[,;\t ]*\r?', re.IGNORECASE)
_IN_HEADS = {ord("\xa0"): " ", **dict.fromkeys(map(ord, "\ufeff\u200b\u2060"))}
_BLANKS = "".join(DELIMITERS) + " \r\n\xa0"


def stated_delimiter(text: str) -> tuple[str, str]:
    """Return the delimiter that a first line such as `sep=;` states, and the text.

    If there is no such line, the delimiter is "". The line is replaced by an empty one, so that the
    numbers of the other lines stay.
    """
    line, newline, rest = text.partition("\n")
    found = _SEPARATOR_LINE.fullmatch(line)
    return (found[1], newline + rest) if found else ("", text)


def delimiter_of(text: str, columns: Iterable[str] = ()) -> str:
    """Return the delimiter of a text that begins with the names of its columns.

    columns: names to expect. The delimiter is the one that separates the most of them, and of
    equal ones the most frequent one in the line.
    """
    line = next((line for line in io.StringIO(text, newline="\n") if line.strip(_BLANKS)), "")
    wanted = set(columns)
    return max(
        DELIMITERS,
        key=lambda delimiter: (
            len(wanted.intersection(heads_of(cells_of(line, delimiter)))),
            line.count(delimiter),
        ),
    )


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line; none if it cannot be split."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def heads_of(cells: Sequence[str]) -> list[str]:
    """Return the names of columns, without the columns at the end that have no name.

    Invisible characters and white space at the ends, such as a non-breaking space, are removed.
    """
    heads = [cell.translate(_IN_HEADS).strip() for cell in cells]
    return heads[: filled_width(heads)]


def filled_width(cells: Sequence[str]) -> int:
    """Return the number of cells up to the last one that is not blank."""
    width = len(cells)
    while width and not cells[width - 1].strip():
        width -= 1
    return width


def looks_like(head: str, column: str) -> bool:
    """Return whether a name is probably a misspelt name of a column, such as `Video ID`."""
    found, wanted = folded(head), folded(column)
    if found == wanted:
        return True
    return bool(found) and SequenceMatcher(None, found, wanted).ratio() >= _ALIKE


def folded(head: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, head.casefold()))


def rows_of_list(text: str) -> list[tuple[int, list[str]]]:
    """Return the filled rows of a short list, which may have no header: line number and cells.

    The delimiter is the most frequent one of the text. Lines count from 1. Cells have no white
    space at their ends. Cells at the end of a row that are empty are left out.
    """
    delimiter, text = stated_delimiter(text.lstrip(MARK))
    delimiter = delimiter or max(DELIMITERS, key=text.count)
    reader = csv.reader(text.splitlines(), delimiter=delimiter, skipinitialspace=True)
    rows = [(number, [cell.strip() for cell in row]) for number, row in enumerate(reader, 1)]
    return [(number, row[: filled_width(row)]) for number, row in rows if filled_width(row)]
