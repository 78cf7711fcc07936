"""Limits that apply to both databases. SQLite itself does not check the length of texts."""

from __future__ import annotations

from django.db import models

from config.shared.errors import InvalidInput

DEPTH_MAX = 1_000_000
SEED_MAX = 2**63 - 1


def check_depth(depth: int) -> None:
    _check(depth, 1, DEPTH_MAX, "depth")


def check_seed(seed: int) -> None:
    _check(seed, -SEED_MAX, SEED_MAX, "seed")


def check_length(model: type[models.Model], column: str, text: str) -> None:
    longest = getattr(model._meta.get_field(column), "max_length", None)
    if longest is not None and len(text) > longest:
        what = f"{model._meta.verbose_name} {column}"
        raise InvalidInput(f"the {what} has {len(text):,} characters, {longest:,} are allowed")


def _check(value: int, lowest: int, highest: int, what: str) -> None:
    if not lowest <= value <= highest:
        raise InvalidInput(f"the {what} must lie between {lowest} and {highest}, not {value}")
