"""Move the database from SQLite to PostgreSQL."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.operations.moving import move_database
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted


class Command(HearthCommand):
    help = (
        "Copies all rows of the SQLite database into an empty PostgreSQL database. Stop the web "
        "server, the workers and the scheduler first. Afterwards, set DATABASE_URL to the target. "
        "HEARTH_HOME with its files stays as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("target", help="postgres://user:password@host/name")

    def run(self, **options: Any) -> dict[str, Any]:
        return dict(move_database(target=options["target"], by=OPERATOR, progress=self.progress))

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            f"Moved {counted(result['rows'], 'row')} of {counted(result['tables'], 'table')} "
            f"in {result['seconds']} s. Set DATABASE_URL to the target now."
        )
