"""A process that has loaded Django for one site, and that forks for each program of this site.

    python -m tests.loaded

Loading Django takes a process about a second of processor time, and the test of a backup runs ten
programs on one site. The process loads the site of its environment once. Then it reads one JSON
object per line (the words of a program, and the files for its output), runs the program in a fork,
and prints the exit code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path

from tests.benchmarks.programs import ROOT, run_program


class LoadedSite:
    """Runs programs (`manage.py …` or `-m module …`) in one environment.

    The process of the site ends when this object is deleted.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.loaded"],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        weakref.finalize(self, stop, self.process)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            request = {"words": words, "out": str(out), "err": str(err)}
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            print(json.dumps(request), file=self.process.stdin, flush=True)
            code = self.process.stdout.readline()
            assert code, "Django could not be loaded"
            return subprocess.CompletedProcess(words, int(code), out.read_text(), err.read_text())


def stop(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    process.wait()


def main() -> None:
    # The programs get an empty standard input, so that they cannot read the requests.
    requests = os.fdopen(os.dup(0))
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    for line in requests:
        request = json.loads(line)
        with Path(request["out"]).open("wb") as out, Path(request["err"]).open("wb") as err:
            done = run_program(request["words"], os.environ, out=out, err=err, fork=True)
        print(done.code, flush=True)


if __name__ == "__main__":
    main()
