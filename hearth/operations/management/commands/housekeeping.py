"""Remove rows and files that are no longer needed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.operations.health import size_in_words
from hearth.operations.housekeeping import run_housekeeping
from hearth.shared.commands import HearthCommand


class Command(HearthCommand):
    help = (
        "Removes expired sessions, old jobs, unused uploads and media files, and old drafts. "
        "Stores the labels of old label sets as arrays, which are faster to read. "
        "The scheduler does this every night."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count")

    def run(self, **options: Any) -> dict[str, Any]:
        steps = run_housekeeping(by=OPERATOR, dry_run=options["dry_run"])
        return {"dry_run": options["dry_run"], "steps": list(steps)}

    def report(self, result: dict[str, Any]) -> None:
        for step in result["steps"]:
            size = f", {size_in_words(step['bytes'])}" if step["bytes"] else ""
            self.stdout.write(f"{step['title']}: {step['removed']:,}{size}")
        if result["dry_run"]:
            self.stdout.write("Nothing was changed, because of --dry-run.")
