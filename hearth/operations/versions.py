"""The migrations of this version of the code, to compare with those of a database or a backup."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from django.db.migrations.loader import MigrationLoader


@dataclass(frozen=True, slots=True)
class Migrations:
    """Migrations as (app, name).

    steps: the single migrations, which every up-to-date database has. squashed: the migrations that
    build an empty database, each instead of many steps. An older database need not have these.
    """

    steps: frozenset[tuple[str, str]]
    squashed: frozenset[tuple[str, str]]


@cache
def migrations_of_code() -> Migrations:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    squashed = frozenset(loader.replacements)
    replaced = {step for one in loader.replacements.values() for step in one.replaces}
    return Migrations(frozenset(loader.disk_migrations) - squashed | replaced, squashed)
