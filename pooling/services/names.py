"""What runs and train splits are called in a benchmark."""

from __future__ import annotations

from typing import Any

from django.db.models import Model, QuerySet

from config.shared.errors import InvalidInput

NAME_LENGTH = 100


def check_name(name: str, what: str) -> None:
    """Raises `InvalidInput` for a name that is empty, too long or not plainly to be read."""
    if not 1 <= len(name) <= NAME_LENGTH or not name.isprintable() or name != name.strip():
        raise InvalidInput(
            f"a {what} is called by 1 to {NAME_LENGTH} printable characters, not {name!r}"
        )


def free_name(rows: QuerySet[Any, Model], name: str) -> str:
    """The name itself, or if one of the rows has it `NAME@2`, and so on."""
    taken = set(rows.filter(name__startswith=name).values_list("name", flat=True))
    candidates = (f"{name}@{version}" for version in range(2, len(taken) + 3))
    return name if name not in taken else next(c for c in candidates if c not in taken)
