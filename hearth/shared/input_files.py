"""Files that a command reads: pipes and the standard input become files, because readers seek."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Any

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
