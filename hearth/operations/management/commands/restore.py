"""Restore a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.operations.backup.services import check_backup, restore_backup
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted


class Command(HearthCommand):
    help = (
        "Restores an archive of `backup` into the database of DATABASE_URL and the folders of "
        "HEARTH_HOME. Checks all hashes before the restore, and the numbers of rows after it. Stop "
        "the web server, the workers and the scheduler first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the archive")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="delete all rows of a database that is not empty, and overwrite files",
        )
        parser.add_argument(
            "--check", action="store_true", help="only check the hashes of all files in the archive"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        archive: dict[str, Any] = {
            "path": options["file"],
            "key_file": settings.BACKUP_KEY_FILE,
            "signing_key": settings.BACKUP_SIGNING_KEY,
        }
        if options["check"]:
            manifest = check_backup(**archive)
            return {
                "created_at": manifest.created_at,
                "version": manifest.version,
                "rows": sum(manifest.rows.values()),
                "files": len(manifest.files),
                "missing": len(manifest.missing),
            }
        return dict(
            restore_backup(
                **archive,
                by=OPERATOR,
                replace=options["replace"],
                progress=self.progress,
            )
        )

    def report(self, result: dict[str, Any]) -> None:
        is_check = "needs_migration" not in result
        self.stdout.write(
            f"{'Intact' if is_check else 'Restored'}: {counted(result['rows'], 'row')} and "
            f"{counted(result['files'], 'file')} of {result['created_at']}, "
            f"version {result['version']}"
        )
        if result.get("needs_migration"):
            self.stdout.write("The backup is from an older version. Run `manage.py migrate` now.")
