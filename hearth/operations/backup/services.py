"""Make and restore backups."""

from __future__ import annotations

import dataclasses
import re
import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TypedDict

from django.conf import settings
from django.core.files import File
from django.db import connection
from django.db.transaction import atomic
from django.utils import timezone

from hearth.accounts.actors import Actor
from hearth.accounts.policies import check_can_administer
from hearth.audit.services import record
from hearth.operations.acts import OperationAct
from hearth.operations.backup import contents, databases
from hearth.operations.backup.archive import (
    MANIFEST,
    ArchiveWriter,
    Entry,
    Manifest,
    read_archive,
    verify_archive,
    write_archive,
)
from hearth.operations.models import Operation, OperationKind
from hearth.operations.records import recorded
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.files import is_standard_output, regular_target, write_atomically
from hearth.shared.migrated import FIRST_COMMIT, compare_migrations
from hearth.shared.progress import Progress, no_progress
from hearth.shared.version import code_version

OWN_NAME = re.compile(r"hearth-\d{8}T\d{6}Z\.tar(\.age)?")
PIECE = 1 << 20
RECORDING_APPS = ("accounts.", "audit.", "operations.")


class BackupFacts(TypedDict):
    """The figures of a backup.

    missing: the number of files that are named in the database but do not exist.
    """

    path: str
    bytes: int
    rows: int
    files: int
    missing: int
    encrypted: bool
    seconds: float


def name_of_backup(at: datetime, *, encrypted: bool) -> str:
    return f"hearth-{at:%Y%m%dT%H%M%SZ}.tar{'.age' if encrypted else ''}"


def make_backup(
    *,
    path: Path,
    by: Actor,
    recipient: str = "",
    signing_key: str = "",
    keep: int | None = None,
    progress: Progress = no_progress,
) -> BackupFacts:
    """Write the database, the media, the label sets and the waiting uploads to one archive.

    path: a file, or a folder; in a folder, the name of the archive contains the time. recipient:
    the public key with which to encrypt. signing_key: the key with which to sign. keep: the number
    of archives to keep in the folder; older ones are deleted.

    The archive contains the database as of one time, and the files that its rows name. People can
    go on judging. Files are read after the database; a file deleted in between is listed as
    missing.
    """
    check_can_administer(by)
    began = timezone.now()
    if path.is_dir():
        path = path / name_of_backup(began, encrypted=bool(recipient))
    target = regular_target(path)
    if target is None or is_standard_output(path):
        raise InvalidInput(f"{path} is not a file or a folder, which a backup needs.")
    path = target
    with recorded(OperationKind.BACKUP) as operation:
        with write_atomically(path) as out:
            path.with_name(f".{path.name}.part").chmod(0o600)
            with write_archive(out, recipient) as archive:
                manifest = _fill(archive, path.parent, began, signing_key, progress)
        facts = BackupFacts(
            path=str(path),
            bytes=path.stat().st_size,
            rows=sum(manifest.rows.values()),
            files=len(manifest.files),
            missing=len(manifest.missing),
            encrypted=bool(recipient),
            seconds=round((timezone.now() - began).total_seconds(), 1),
        )
        operation.facts = facts
    with atomic():
        after = {name: facts[name] for name in ("rows", "files", "bytes", "encrypted")}
        record(OperationAct.BACKUP_MADE, by=by, on=operation, after=after)
    if keep is not None:
        delete_old_backups(path.parent, keep)
    return facts


def delete_old_backups(folder: Path, keep: int) -> int:
    """Delete all archives in the folder except the `keep` newest. Files with other names stay."""
    backups = sorted(path for path in folder.iterdir() if OWN_NAME.fullmatch(path.name))
    old = backups[:-keep] if keep else backups
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _fill(
    archive: ArchiveWriter, folder: Path, at: datetime, signing_key: str, progress: Progress
) -> Manifest:
    # The dump is in the folder of the archive, because /tmp may be too small for a database.
    with (
        tempfile.TemporaryDirectory(prefix=".hearth-backup-", dir=folder) as work,
        databases.dump_database(Path(work)) as dump,
    ):
        progress(0, None, "counting rows")
        content = _content_of(dump)
        with dump.path.open("rb") as stream:
            archive.add(dump.member, File(stream))
    missing = _add_files(archive, content.files, progress)
    manifest = Manifest(
        version=code_version(),
        created_at=at.isoformat(),
        engine=connection.vendor,
        server=dump.server,
        migrations=content.migrations,
        rows=content.rows,
        files=archive.files,
        missing=missing,
    )
    if signing_key:
        manifest = manifest.signed(signing_key)
    archive.finish(manifest)
    return manifest


@dataclasses.dataclass(frozen=True, slots=True)
class _Content:
    rows: dict[str, int]
    migrations: list[str]
    files: list[contents.StoredFile]


def _content_of(dump: databases.Dump) -> _Content:
    return _Content(
        contents.count_rows(dump.query, dump.tables),
        contents.applied_migrations(dump.query),
        contents.named_files(dump.query),
    )


def _add_files(
    archive: ArchiveWriter, files: list[contents.StoredFile], progress: Progress
) -> list[str]:
    """Add the files. Return the files that no longer exist, by their names in the archive."""
    missing = []
    for number, file in enumerate(files):
        progress(number, len(files), "copying files")
        try:
            with file.open() as stream:
                archive.add(file.member, stream)
        except FileNotFoundError:
            missing.append(file.member)
    return missing


# --- Restoring ----------------------------------------------------------------------------------


class RestoreFacts(TypedDict):
    """The figures of a restore."""

    created_at: str
    version: str
    rows: int
    files: int
    missing: int
    needs_migration: bool


def check_backup(*, path: Path, key_file: str = "", signing_key: str = "") -> Manifest:
    """Read the whole archive and compare the hash of every file with the manifest.

    Raises `InvalidInput` for a file outside the storages, which `restore_backup` refuses, too.
    """
    manifest = verify_archive(path, key_file, signing_key)
    _stored_files(manifest)
    return manifest


def restore_backup(
    *,
    path: Path,
    by: Actor,
    key_file: str = "",
    signing_key: str = "",
    replace: bool = False,
    progress: Progress = no_progress,
) -> RestoreFacts:
    """Restore the database and the files of an archive.

    All hashes are checked before anything is written, and the numbers of rows afterwards. Unless
    `replace` is set, raises `Conflict` if the database has rows, or if a file of the same name has
    other content. If there is a signing key, raises `InvalidInput` for an archive that was not
    signed with it. After an error, the database stays as it was.
    """
    check_can_administer(by)
    if not replace and databases.has_rows():
        raise Conflict(
            "The database is not empty. Restore into an empty one, or replace all its rows with "
            "--replace."
        )
    progress(0, None, "checking the archive")
    manifest = verify_archive(path, key_file, signing_key)
    _check_fits(manifest)
    _check_stored_files(manifest, replace)
    with tempfile.TemporaryDirectory(prefix=".hearth-restore-", dir=settings.HEARTH_HOME) as work:
        dump = Path(work) / "dump"
        _place_files(path, key_file, dump, progress)
        progress(0, None, "restoring the database")
        databases.restore_database(dump, lambda query: _check_rows(query, manifest))
    pending = compare_migrations(manifest.migrations).missing
    facts = RestoreFacts(
        created_at=manifest.created_at,
        version=manifest.version,
        rows=sum(manifest.rows.values()),
        files=len(manifest.files),
        missing=len(manifest.missing),
        needs_migration=bool(pending),
    )
    # Before these migrations, the tables that store the record may have other columns.
    if not any(name.startswith(RECORDING_APPS) for name in pending):
        _record_restore(facts, by)
    return facts


@atomic
def _record_restore(facts: RestoreFacts, by: Actor) -> None:
    """Record the restore in the restored database."""
    operation = Operation.objects.create(
        kind=OperationKind.RESTORE, finished_at=timezone.now(), facts=facts
    )
    after = {name: facts[name] for name in ("created_at", "version", "rows", "files")}
    record(OperationAct.BACKUP_RESTORED, by=by, on=operation, after=after)


def _check_fits(manifest: Manifest) -> None:
    """Raise `InvalidInput` if this code or this database cannot read the backup."""
    if manifest.engine != connection.vendor:
        raise InvalidInput(
            f"The backup is from {manifest.engine}, but DATABASE_URL is a database on "
            f"{connection.vendor}. Restore it on {manifest.engine}. Then `manage.py move_database` "
            "can move it from SQLite to PostgreSQL."
        )
    found = compare_migrations(manifest.migrations)
    if found.is_too_old:
        raise InvalidInput(
            f"The backup was made by a version before commit {FIRST_COMMIT}, so restore it with "
            "that commit, run `manage.py migrate` with it, and then upgrade to this version."
        )
    if found.newer:
        raise InvalidInput(
            f"The backup was made by a newer version ({manifest.version}): this one does not have "
            f"the migration {found.newer[0]}. Install that version, and restore with it."
        )
    if databases.member_of(connection.vendor) not in manifest.files:
        raise InvalidInput("The archive contains no database.")


def _stored_files(manifest: Manifest) -> list[tuple[contents.StoredFile, Entry]]:
    """Return the files without the database. Raises `InvalidInput` for one outside the storages."""
    return [
        (contents.StoredFile.of_member(member), entry)
        for member, entry in manifest.files.items()
        if member != databases.member_of(manifest.engine)
    ]


def _check_stored_files(manifest: Manifest, replace: bool) -> None:
    """Raise `Conflict` if a stored file has other content, unless `replace` is set."""
    for file, entry in _stored_files(manifest):
        if not replace and file.sha256() not in ("", entry.sha256):
            raise Conflict(
                f"{file.place} exists, but the backup has other content for it. Move it away, or "
                "overwrite such files with --replace."
            )


def _place_files(path: Path, key_file: str, dump: Path, progress: Progress) -> None:
    with read_archive(path, key_file) as tar:
        for number, info in enumerate(tar):
            progress(number, None, "restoring files")
            content = tar.extractfile(info)
            if info.name == MANIFEST or content is None:
                continue
            if info.name != databases.member_of(connection.vendor):
                contents.StoredFile.of_member(info.name).write(content)
                continue
            with dump.open("wb") as out:
                shutil.copyfileobj(content, out, PIECE)


def _check_rows(query: contents.Query, manifest: Manifest) -> None:
    found = contents.count_rows(query, manifest.rows)
    for table, expected in manifest.rows.items():
        if found[table] != expected:
            raise InvalidInput(
                f"The table {table} has {found[table]:,} rows after the restore, not {expected:,}."
            )
