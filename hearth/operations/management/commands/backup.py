"""Back up the database, the media and the label sets."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import DatabaseError, connection
from django.utils import timezone

from hearth.accounts.actors import OPERATOR
from hearth.operations.backup.archive import make_key
from hearth.operations.backup.services import make_backup
from hearth.operations.models import OperationKind
from hearth.operations.records import latest
from hearth.processes import raise_on_signals
from hearth.shared.commands import HearthCommand
from hearth.shared.errors import HearthError, InvalidInput
from hearth.shared.words import counted

LOOK_EVERY_SECONDS = 60.0


class Command(HearthCommand):
    help = (
        "Writes the database, the media, the label sets and the waiting uploads to one archive. "
        "People can go on judging. `restore` reads the archive."
    )
    outputs = ("file", "new_key")
    stealth_options = ("sleep",)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            help="file or folder to write to (default: BACKUP_DIR)",
        )
        parser.add_argument(
            "--encrypt",
            action="store_true",
            help="encrypt for the public key in BACKUP_RECIPIENT (age1…)",
        )
        parser.add_argument(
            "--keep",
            type=int,
            metavar="N",
            help="delete all but the N newest backups in the folder",
        )
        parser.add_argument(
            "--every",
            type=float,
            metavar="HOURS",
            help="run until stopped, and make a backup when the last one is older than HOURS",
        )
        parser.add_argument(
            "--new-key",
            type=Path,
            metavar="FILE",
            help="only write a new private key to FILE, and print its public key",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        if options["new_key"] is not None:
            return {"recipient": make_key(options["new_key"])}
        if options["keep"] is not None and options["keep"] < 1:
            raise InvalidInput("--keep must be at least 1.")
        if options["encrypt"] and not settings.BACKUP_RECIPIENT:
            raise InvalidInput(
                "--encrypt needs a public key in BACKUP_RECIPIENT. "
                "Create a pair of keys with `manage.py backup --new-key FILE`."
            )
        if options["every"] is not None:
            self._repeat(options, options.get("sleep", time.sleep))
        return self._once(options)

    def _once(self, options: dict[str, Any]) -> dict[str, Any]:
        path = options["file"]
        if path is None:
            path = Path(settings.BACKUP_DIR)
            path.mkdir(parents=True, exist_ok=True)
        return dict(
            make_backup(
                path=path,
                by=OPERATOR,
                recipient=settings.BACKUP_RECIPIENT if options["encrypt"] else "",
                signing_key=settings.BACKUP_SIGNING_KEY,
                keep=options["keep"],
                progress=self.progress,
            )
        )

    def _repeat(self, options: dict[str, Any], sleep: Callable[[float], None]) -> None:
        """Make backups until a signal arrives. Print a failure, and try again later."""
        raise_on_signals()
        age = timedelta(hours=options["every"])
        while True:
            try:
                last = latest(OperationKind.BACKUP)
                if last is None or last.started_at < timezone.now() - age:
                    self.report(self._once(options))
            except (HearthError, OSError, DatabaseError) as error:
                self.stderr.write(f"The backup failed: {error}")
                connection.close_if_unusable_or_obsolete()
            sleep(LOOK_EVERY_SECONDS)

    def report(self, result: dict[str, Any]) -> None:
        if "recipient" in result:
            self.stdout.write(f"BACKUP_RECIPIENT={result['recipient']}")
            return
        self.stdout.write(
            f"{result['path']}: {counted(result['rows'], 'row')} and "
            f"{counted(result['files'], 'file')}, {result['bytes']:,} bytes, "
            f"{result['seconds']} s{', encrypted' if result['encrypted'] else ''}"
        )
        if result["missing"]:
            lost = counted(result["missing"], "file")
            self.stderr.write(f"Missing: {lost} to which the database refers.")
