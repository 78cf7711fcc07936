"""Run parts of `make test` at the same time, and begin each line of output with the part's name.

    python -m tests.parts make Checks=check "SQLite=test-sqlite ..."

Tests wait for servers, processes and disks half of the time, which another part can use. All parts
run to their end, even if one fails. The exit status is 0 if all parts succeeded, and otherwise 1.
The parts share the migrated databases.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from tests.databases import share

_one_line = Lock()


class Part:
    """A running process. Each line of its output is shown after the name of the part."""

    def __init__(self, name: str, command: Sequence[str], width: int) -> None:
        self.head = f"{name:{width}} | "
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", text=True
        )

    def follow(self) -> int:
        """Show the output until the process ends. Return its exit status."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.show(line.rstrip("\n"))
        status = self.process.wait()
        minutes, seconds = divmod(round(time.monotonic() - self.began), 60)
        self.show(f"{'failed' if status else 'passed'} after {minutes} min {seconds} s")
        return status

    def show(self, line: str) -> None:
        with _one_line:
            print(self.head + line, flush=True)


def run(commands: dict[str, Sequence[str]]) -> int:
    """Run the commands of these parts at the same time. Return 0 if all succeed, or else 1."""
    width = max(map(len, commands))
    parts = [Part(name, command, width) for name, command in commands.items()]

    def end(*_: object) -> None:
        for part in parts:
            part.process.terminate()

    # Ctrl-C reaches the parts without help, because they are in the same process group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)
    with ThreadPoolExecutor(len(parts)) as pool:
        return int(any(list(pool.map(Part.follow, parts))))


def main() -> int:
    make, *words = sys.argv[1:]
    targets = dict(word.split("=", 1) for word in words)
    options = ["--no-print-directory", "--keep-going"]
    with share():
        return run({name: [make, *options, *some.split()] for name, some in targets.items()})


if __name__ == "__main__":
    sys.exit(main())
