"""The tables of EPIC-KITCHENS, whose cells can be lists in Python's notation."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterable, Sequence
from typing import TypeVar

from config.shared.errors import InvalidInput

Item = TypeVar("Item", str, int)


def table_rows(lines: Iterable[str], columns: Sequence[str], source: str) -> csv.DictReader[str]:
    """Return the rows of a CSV table. Raises InvalidInput if one of these columns is missing."""
    rows = csv.DictReader(lines)
    missing = [name for name in columns if name not in (rows.fieldnames or ())]
    if missing:
        raise InvalidInput(f"there is no column {missing[0]}", source=source, line=1)
    return rows


def read_list(text: str | None, kind: type[Item]) -> list[Item] | None:
    """Return the list that a cell contains, or None if it contains anything else."""
    try:
        found = ast.literal_eval(text or "")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    is_list = isinstance(found, list) and all(type(item) is kind for item in found)
    return found if is_list else None
