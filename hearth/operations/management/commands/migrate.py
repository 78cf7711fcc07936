"""Migrate the database, unless only an earlier version of the code can."""

from __future__ import annotations

from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections

from hearth.shared.migrated import TOO_OLD, compare_database


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if compare_database(connections[options["database"]]).is_too_old:
            raise CommandError(TOO_OLD)
        super().handle(*args, **options)
