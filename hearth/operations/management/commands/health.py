"""Run the checks of the site, and print their findings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from hearth.operations.health import CHECKS, check_health
from hearth.shared.commands import HearthCommand


class Command(HearthCommand):
    help = "Runs the checks of /readyz, and prints fixes for failures. Exits with 1 if one fails."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", nargs="+", choices=list(CHECKS), default=[])

    def run(self, **options: Any) -> dict[str, Any]:
        findings = check_health(options["only"])
        self.is_ready = all(finding.is_ok for finding in findings)
        return {
            "ready": self.is_ready,
            "checks": [asdict(finding) for finding in findings],
        }

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if not self.is_ready:
            raise CommandError("The site is not ready.", returncode=1)

    def report(self, result: dict[str, Any]) -> None:
        for found in result["checks"]:
            mark = "ok  " if found["is_ok"] else "FAIL"
            fix = f"\n       {found['fix']}" if found["fix"] else ""
            self.stdout.write(f"{mark}  {found['name']}: {found['text']}{fix}")
