"""The content of a backup: the tables with their rows, and the files that the rows name."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files import File
from django.core.files.storage import FileSystemStorage, storages
from django.core.files.utils import validate_file_name
from django.db import connection, models

from hearth.jobs.models import UNFINISHED, Job
from hearth.shared.errors import InvalidInput
from hearth.shared.files import write_atomically
from hearth.shared.uploads import upload_names

# Runs one statement without parameters and returns all rows.
Query = Callable[[str], Sequence[Sequence[Any]]]

PIECE = 1 << 20
UPLOADS = "uploads"

# Tables that may have rows even in an empty database, because `migrate` or running processes write
# these rows.
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

    def open(self) -> File[Any]:
        """Open the file. Raises `FileNotFoundError` if it does not exist."""
        return storages[self.storage].open(self.name)

    def sha256(self) -> str:
        """Return the hash of the stored file; empty if it does not exist."""
        try:
            with self.open() as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        except FileNotFoundError:
            return ""

    @property
    def place(self) -> str:
        """The path of the file, or its name in the bucket, for messages to people."""
        storage = storages[self.storage]
        return storage.path(self.name) if isinstance(storage, FileSystemStorage) else self.name

    def write(self, content: IO[bytes]) -> None:
        """Store the file under exactly this name. An earlier file is replaced in one step."""
        storage: Any = storages[self.storage]
        if not isinstance(storage, FileSystemStorage):
            # A bucket reads the content several times, which a stream does not allow.
            with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as copy:
                shutil.copyfileobj(content, copy, PIECE)
                storage.replace(self.name, copy)
            return
        path = Path(storage.path(self.name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as out:
            shutil.copyfileobj(content, out, PIECE)

    @classmethod
    def of_member(cls, member: str) -> StoredFile:
        """Return the file that has this name in an archive (see `member`).

        Raises `InvalidInput` for a name of another form, for a storage whose files are not in
        backups, and for a name outside the storage.
        """
        kind, storage, name = (*member.split("/", 2), "", "")[:3]
        if kind != "files" or storage not in storages_of_backups() or not name or "\0" in name:
            raise InvalidInput(f"The archive has a file for an unknown folder: {member!r}")
        try:
            validate_file_name(name, allow_relative_path=True)
        except SuspiciousOperation:
            raise InvalidInput(f"The archive has a file outside its folder: {member!r}") from None
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
    found |= {StoredFile(UPLOADS, name) for name in _waiting_uploads(query)}
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


@cache
def storages_of_backups() -> frozenset[str]:
    """Return the aliases of the storages whose files are in backups."""
    return frozenset({UPLOADS, *(column.storage for column in file_columns())})


def file_columns() -> Iterator[FileColumn]:
    aliases = {
        _place_of(storages[alias]): alias for alias in settings.STORAGES if alias != "staticfiles"
    }
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.FileField):
                alias = aliases[_place_of(field.storage)]
                yield FileColumn(model._meta.db_table, str(field.column), alias)


def _place_of(storage: Any) -> str:
    """Return what identifies a storage: its folder, or the prefix in its bucket."""
    place: str = storage.location
    return place


def _waiting_uploads(query: Query) -> set[str]:
    """Return the names of the uploads that unfinished jobs will read."""
    states = ", ".join(f"'{state.value}'" for state in UNFINISHED)
    table = quoted(Job._meta.db_table)
    rows = query(f"SELECT params FROM {table} WHERE state IN ({states})")  # noqa: S608
    return {name for row in rows for name in upload_names(json.loads(row[0]))}


def quoted(name: str) -> str:
    return str(connection.ops.quote_name(name))
