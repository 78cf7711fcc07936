"""The base of all management commands: `--json`, exit codes, progress on stderr, input files."""

from __future__ import annotations

import json
import sys
import traceback
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import DatabaseError, connection

from hearth.shared.errors import HearthError, InvalidInput
from hearth.shared.files import is_standard_output
from hearth.shared.migrated import TOO_OLD, compare_database
from hearth.shared.options import add_options
from hearth.shared.progress import Progress

if TYPE_CHECKING:
    from hearth.shared.terminal import Bar
import shutil
import tempfile
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path

from django.conf import settings

STANDARD_INPUT = Path("-")


class InputFiles:
    """The pipes among the options of a command, copied to files until `close`."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._names: dict[str, str] = {}

    def readable(self, options: dict[str, Any], outputs: Collection[str]) -> dict[str, Any]:
        """Return the options with a file in place of each pipe, and of `-` (the standard input).

        outputs: the names of the options that name files to write, which stay as they are.
        """
        return {
            name: value if name in outputs else self._readable(value)
            for name, value in options.items()
        }

    def named(self, text: str) -> str:
        """Return a message with the names that the person gave to the pipes."""
        for copy, name in self._names.items():
            text = text.replace(copy, name)
        return text

    def close(self) -> None:
        self._stack.close()

    def _readable(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._readable(one) for one in value]
        if not isinstance(value, Path) or (value != STANDARD_INPUT and not _is_pipe(value)):
            return value
        # /tmp may be in memory and too small for a run.
        folder = tempfile.TemporaryDirectory(prefix="input-", dir=settings.HEARTH_HOME)
        copy = Path(self._stack.enter_context(folder)) / (value.name.strip("-") or "stdin")
        with copy.open("wb") as out:
            if value == STANDARD_INPUT:
                shutil.copyfileobj(sys.stdin.buffer, out)
            else:
                with value.open("rb") as pipe:
                    shutil.copyfileobj(pipe, out)
        self._names[str(copy)] = "standard input" if value == STANDARD_INPUT else str(value)
        return copy


def _is_pipe(path: Path) -> bool:
    """Return whether a path leads to a pipe, such as that of `<(zcat run.gz)`."""
    return path.is_fifo()


BAD_INPUT = 2
INTERRUPTED = 130


class HearthCommand(BaseCommand):
    """A command that calls services and reports one result.

    Subclasses implement `run(**options)`, which returns the object for `--json`, and
    `report(result)`, which prints it as text. A command passes `OPERATOR` as `by` to
    services (see `hearth.accounts.actors`).
    """

    # Commands skip Django's checks of the code, which run in development and in `manage.py check`.
    # The checks load all pages, which takes half a second and 35 MB.
    requires_system_checks = ()
    # The options that name files to write. All other files are read.
    outputs: ClassVar[tuple[str, ...]] = ("output",)
    # The dataclass with the options of an action on a benchmark, if the command has no others.
    action: ClassVar[type | None] = None

    def add_arguments(self, parser: CommandParser) -> None:
        if self.action is not None:
            parser.add_argument("key", help="key of the benchmark")
            add_options(parser, self.action)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--json", action="store_true", help="print the result as one JSON object"
        )
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        if is_standard_output(options.get("output")):
            # The file goes to the standard output, so the report does not.
            self.stdout = OutputWrapper(sys.stderr)
        self.progress = TerminalProgress(lines=not options["json"])
        inputs = InputFiles()
        try:
            result = self._run(inputs.readable(options, self.outputs))
        except HearthError as error:
            raise CommandError(inputs.named(_all_problems(error)), returncode=BAD_INPUT) from error
        except OSError as error:
            # A file cannot be read or written.
            name, reason = error.filename2 or error.filename, error.strerror or str(error)
            text = f"{name}: {reason}" if name else reason
            raise CommandError(inputs.named(text), returncode=BAD_INPUT) from error
        except DatabaseError as error:
            found = compare_database(connection)
            if not found.missing:
                raise
            behind = "The database does not match this version. Run `manage.py migrate` first."
            reason = TOO_OLD if found.is_too_old else behind
            raise CommandError(reason, returncode=BAD_INPUT) from error
        except KeyboardInterrupt:
            raise CommandError("interrupted", returncode=INTERRUPTED) from None
        finally:
            self.progress.close()
            inputs.close()
        if options["json"]:
            self.stdout.write(json.dumps(result, allow_nan=False))
        else:
            self.report(result)

    def _run(self, options: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.run(**options)
        except BaseException as error:
            # Close the queries of unread rows while the database is open. Later, each would print a
            # traceback.
            traceback.clear_frames(error.__traceback__)
            raise

    def run(self, **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    def report(self, result: dict[str, Any]) -> None:
        raise NotImplementedError


def _all_problems(error: HearthError) -> str:
    """Return the text of an error, and a line for each further problem of the file."""
    if not isinstance(error, InvalidInput):
        return str(error)
    others = [
        str(InvalidInput(problem.reason, source=problem.source or error.source, line=problem.line))
        for problem in error.problems[1:]
    ]
    return "\n".join([str(error), *others])


class TerminalProgress(Progress):
    """Show progress on stderr: a live bar in a terminal, otherwise a line for each new phase.

    If `lines` is False, nothing is written outside a terminal.
    """

    def __init__(self, *, lines: bool = True, stream: TextIO | None = None) -> None:
        self.lines = lines
        self.stream = stream or sys.stderr
        self.phase = ""
        self.bar: Bar | None = None

    def __call__(self, done: int, total: int | None, phase: str = "") -> None:
        is_new, self.phase = phase not in ("", self.phase), phase or self.phase
        if self.stream.isatty():
            bar = self._start_bar() if is_new or self.bar is None else self.bar
            bar.update(done, total)
        elif self.lines and is_new:
            self.stream.write(f"{self.phase} ...\n")
            self.stream.flush()

    def close(self) -> None:
        """Remove the bar. The next call shows a new one."""
        if self.bar is not None:
            self.bar.close()
        self.bar = None

    def _start_bar(self) -> Bar:
        # Commands outside a terminal need not spend 70 ms on importing rich.
        from hearth.shared.terminal import Bar

        self.close()
        self.bar = Bar(self.phase, self.stream)
        return self.bar
