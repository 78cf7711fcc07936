"""The content of a backup: the tables with their rows, and the files that the rows name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.files.storage import storages
from django.db import connection, models

from config.jobs.models import UNFINISHED, Job
from config.shared.errors import InvalidInput
from config.shared.uploads import upload_names

# Runs one statement without parameters and returns all rows.
Query = Callable[[str], Sequence[Sequence[Any]]]

# The tables that `migrate` and running processes fill in an empty database.
FILLED_BY_ITSELF = {
    "django_migrations",
    "django_content_type",
    "auth_permission",
    "auth_group",
    "operations_heartbeat",
    "operations_operation",
    "operations_tally",
    "operations_workertime",
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a storage. storage: the alias of the storage in `settings.STORAGES`."""

    storage: str
    name: str

    @property
    def member(self) -> str:
        """The name of the file in an archive."""
        return f"files/{self.storage}/{self.name}"

    @property
    def path(self) -> Path:
        # Raises SuspiciousFileOperation for a name outside the folder of the storage.
        return Path(storages[self.storage].path(self.name))

    @classmethod
    def of_member(cls, member: str) -> StoredFile:
        """Reverse `member`. Raises `InvalidInput` for a name of another form."""
        kind, storage, name = (*member.split("/", 2), "", "")[:3]
        if kind != "files" or storage not in settings.STORAGES or not name:
            raise InvalidInput(f"The archive has a file for an unknown folder: {member}")
        return cls(storage, name)


def count_rows(query: Query, tables: Iterable[str]) -> dict[str, int]:
    """Return the number of rows of each table."""
    counts = {}
    for table in sorted(tables):
        (row,) = query(f"SELECT count(*) FROM {quoted(table)}")  # noqa: S608 - names of tables
        counts[table] = int(row[0])
    return counts


def applied_migrations(query: Query) -> list[str]:
    rows = query("SELECT app, name FROM django_migrations ORDER BY app, name")
    return [f"{app}.{name}" for app, name in rows]


def named_files(query: Query) -> list[StoredFile]:
    """Return the files that the rows name, without repetition."""
    found = {
        StoredFile(column.storage, name)
        for column in file_columns()
        for name in column.names(query)
    }
    found |= {StoredFile("uploads", name) for name in _waiting_uploads(query)}
    return sorted(found, key=lambda file: file.member)


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of a table that contains names of files in a storage."""

    table: str
    column: str
    storage: str

    def names(self, query: Query) -> set[str]:
        table, column = quoted(self.table), quoted(self.column)
        rows = query(f"SELECT {column} FROM {table} WHERE {column} <> ''")  # noqa: S608
        return {row[0] for row in rows}


def file_columns() -> Iterator[FileColumn]:
    aliases = {
        storages[alias].path(""): alias for alias in settings.STORAGES if alias != "staticfiles"
    }
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.FileField):
                alias = aliases[field.storage.path("")]
                yield FileColumn(model._meta.db_table, str(field.column), alias)


def _waiting_uploads(query: Query) -> set[str]:
    """Return the names of the uploads that unfinished jobs will read."""
    states = ", ".join(f"'{state.value}'" for state in UNFINISHED)
    table = quoted(Job._meta.db_table)
    rows = query(f"SELECT params FROM {table} WHERE state IN ({states})")  # noqa: S608
    return {name for row in rows for name in upload_names(json.loads(row[0]))}


def quoted(name: str) -> str:
    return str(connection.ops.quote_name(name))
