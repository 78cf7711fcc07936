"""The cells of the tables of EPIC-KITCHENS, which can be lists in Python's notation."""

from __future__ import annotations

import ast
from typing import TypeVar

Item = TypeVar("Item", str, int)


def read_list(text: str | None, kind: type[Item]) -> list[Item] | None:
    """Return the list that a cell contains, or None if it contains anything else."""
    try:
        found = ast.literal_eval(text or "")
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    is_list = isinstance(found, list) and all(type(item) is kind for item in found)
    return found if is_list else None
