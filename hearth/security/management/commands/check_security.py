"""Check this installation against requirements of OWASP ASVS 5."""

from __future__ import annotations

import sys
from typing import Any

from hearth.security import accounts, code, limits, web  # noqa: F401  # they register checks
from hearth.security.registry import run_checks
from hearth.shared.commands import HearthCommand

FAILED = 1


class Command(HearthCommand):
    help = (
        "Check this installation against requirements of OWASP ASVS 5, in the order of their "
        "numbers. Requirements that a program cannot check are not listed. The exit code is 1 if "
        "a listed requirement is not met."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self.failed:
            sys.exit(FAILED)

    def run(self, **options: Any) -> dict[str, Any]:
        verdicts = run_checks()
        self.failed = sum(not verdict["passed"] for verdict in verdicts)
        return {
            "passed": len(verdicts) - self.failed,
            "failed": self.failed,
            "requirements": verdicts,
        }

    def report(self, result: dict[str, Any]) -> None:
        for verdict in result["requirements"]:
            mark = "pass" if verdict["passed"] else "FAIL"
            line = "{number:7} {requirement} {problem}".format(**verdict)
            self.stdout.write(f"{mark}  {line}".rstrip())
        self.stdout.write("Requirements met: {passed}. Not met: {failed}.".format(**result))
