"""The base of all management commands: `--json`, exit codes, and progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from config.shared.errors import HearthError
from config.shared.progress import Progress

BAD_INPUT = 2
INTERRUPTED = 130


class HearthCommand(BaseCommand):
    """A command that calls services and reports one result.

    Subclasses implement `run(**options)`, which returns the object for `--json`, and
    `report(result)`, which prints it as text. A command passes `OPERATOR` as `by` to services, see
    `config.accounts.actors`.
    """

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--json", action="store_true", help="print the result as one JSON object"
        )
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        self.progress = TerminalProgress()
        try:
            result = self.run(**options)
        except HearthError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        except OSError as error:
            # A file cannot be read or written.
            reason = f"{error.filename2 or error.filename}: {error.strerror}"
            raise CommandError(reason, returncode=BAD_INPUT) from error
        except DatabaseError as error:
            if not _is_behind():
                raise
            reason = "The database does not match this version. Run `manage.py migrate` first."
            raise CommandError(reason, returncode=BAD_INPUT) from error
        except KeyboardInterrupt:
            raise CommandError("interrupted", returncode=INTERRUPTED) from None
        finally:
            self.progress.close()
        if options["json"]:
            self.stdout.write(json.dumps(result, allow_nan=False))
        else:
            self.report(result)

    def run(self, **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    def report(self, result: dict[str, Any]) -> None:
        raise NotImplementedError


def _is_behind() -> bool:
    """Return whether migrations of this version are missing in the database."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


class TerminalProgress(Progress):
    """A progress bar on stderr.

    If stderr is not a terminal, nothing is printed, or with `lines` one line for each phase.
    """

    WIDTH = 30

    def __init__(self, *, lines: bool = False, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.lines = lines
        self.drawn_at = 0.0
        self.phase = ""

    def __call__(self, done: int, total: int | None, phase: str = "") -> None:
        new_phase, self.phase = phase not in ("", self.phase), phase or self.phase
        if self.stream.isatty():
            self._draw(done, total, at_once=new_phase or done == total)
        elif self.lines and new_phase:
            self.stream.write(f"{self.phase} ...\n")
            self.stream.flush()

    def close(self) -> None:
        if self.stream.isatty():
            self.stream.write("\r\033[K")

    def _draw(self, done: int, total: int | None, *, at_once: bool) -> None:
        now = time.monotonic()
        if now - self.drawn_at < 0.1 and not at_once:
            return
        self.drawn_at = now
        if total:
            full = self.WIDTH * done // total
            bar = f"{'█' * full}{'░' * (self.WIDTH - full)} {100 * done // total:3} %"
        else:
            bar = f"{'░' * self.WIDTH}"
        self.stream.write(f"\r\033[K{bar}  {self.phase}")
        self.stream.flush()
