"""Limits that apply on SQLite and PostgreSQL. SQLite itself does not check the length of texts."""

from __future__ import annotations

from django.db import models

from hearth.shared.errors import InvalidInput
from hearth.shared.options import DEPTH_MAX, SEED_MAX


def check_depth(depth: int) -> None:
    _check(depth, 1, DEPTH_MAX, "depth")


def check_seed(seed: int) -> None:
    _check(seed, -SEED_MAX, SEED_MAX, "seed")


def check_length(model: type[models.Model], column: str, text: str, noun: str = "") -> None:
    """Raise `InvalidInput` if a text is too long for its column.

    noun: the word for the text in the message, as forms show it; by default, the name of the
    column with spaces.
    """
    longest = getattr(model._meta.get_field(column), "max_length", None)
    if longest is not None and len(text) > longest:
        noun = noun or column.replace("_", " ")
        raise InvalidInput(f"the {noun} has {len(text):,} characters; the maximum is {longest:,}")


def _check(value: int, lowest: int, highest: int, what: str) -> None:
    if not lowest <= value <= highest:
        raise InvalidInput(f"the {what} must lie between {lowest} and {highest}, not {value}")
