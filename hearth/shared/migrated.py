"""The migrations of a database or of a backup, compared with those of this code.

Sites upgrade from the first release, 0.1.0, which has the tables of `FIRST_COMMIT`. One migration
of each app replaces all migrations of that commit, whose files are deleted. Django cannot load its
graph if a database has only some of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

FIRST_COMMIT = "89409609"
TOO_OLD = (
    f"The database is of a version before commit {FIRST_COMMIT}, so install that commit first and "
    "run `manage.py migrate` with it, and then upgrade to this version."
)
# Until the first release, these built an empty database. They are recorded beside those that they
# replaced.
SQUASHED = frozenset(
    {
        "accounts.0001_squashed_0007_help_texts",
        "pooling.0001_squashed_0016_help_texts",
        "annotation.0001_squashed_0018_help_texts",
        "evaluation.0001_squashed_0014_help_texts",
    }
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences between applied migrations and those of this code. Names are `app.name`.

    is_too_old: some migrations that the first release replaces are missing. missing: migrations
    of this code that are not applied. newer: applied migrations that this code does not have.
    """

    is_too_old: bool
    missing: list[str]
    newer: list[str]


def compare_database(connection: BaseDatabaseWrapper) -> Difference:
    applied = MigrationRecorder(connection).applied_migrations()
    return compare_migrations(f"{app}.{name}" for app, name in applied)


def compare_migrations(applied: Iterable[str]) -> Difference:
    code, known = _migrations_of_code(), set(applied)
    is_too_old = any(known & replaced and replaced - known for replaced in code.values())
    known |= {name for name, replaced in code.items() if replaced and replaced <= known}
    # The rows of removed apps stay, and do no harm.
    apps = tuple({f"{name.partition('.')[0]}." for name in code})
    unknown = known.difference(code, SQUASHED, *code.values())
    return Difference(
        is_too_old=is_too_old,
        missing=sorted(code.keys() - known),
        newer=sorted(name for name in unknown if name.startswith(apps)),
    )


@cache
def _migrations_of_code() -> dict[str, frozenset[str]]:
    """Return the names of all migrations, with the names of those that each replaces."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    return {
        f"{app}.{name}": frozenset(f"{app}.{name}" for app, name in migration.replaces)
        for (app, name), migration in loader.disk_migrations.items()
    }
