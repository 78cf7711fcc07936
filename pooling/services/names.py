"""Names of runs, proxies and train splits, unique within a benchmark."""

from __future__ import annotations

from typing import Any

from django.db.models import Model, QuerySet

from hearth.shared.errors import InvalidInput
from hearth.shared.options import NAME_LENGTH


def check_name(name: str, noun: str) -> None:
    """Raise `InvalidInput` if the name is empty, too long or unprintable, or has outer spaces."""
    if not 1 <= len(name) <= NAME_LENGTH or not name.isprintable() or name != name.strip():
        raise InvalidInput(
            f"The name of a {noun} must have 1 to {NAME_LENGTH} printable characters "
            f"and no space at its ends. {name!r} does not."
        )


def free_name(rows: QuerySet[Any, Model], name: str) -> str:
    """Return the first of `NAME`, `NAME@2`, `NAME@3` and so on that no row uses."""
    taken = set(rows.filter(name__startswith=name).values_list("name", flat=True))
    candidates = (f"{name}@{version}" for version in range(2, len(taken) + 3))
    return name if name not in taken else next(c for c in candidates if c not in taken)
