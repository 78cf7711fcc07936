"""Progress of commands on stderr: a bar in a terminal, lines elsewhere."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from hearth.shared.commands import TerminalProgress
from hearth.shared.progress import progress_of_part

ROOT = Path(__file__).resolve().parent.parent.parent
# Half of the run, then a phase with an unknown total.
WORK = """
import time
from hearth.shared.commands import TerminalProgress
progress = TerminalProgress()
progress(0, 4000, "reading the run")
progress(1000, 4000)
time.sleep(0.01)
progress(2000, 4000)
progress.bar._progress.refresh()
progress(0, None, "storing")
progress.close()
"""


def test_outside_a_terminal_each_phase_is_a_line() -> None:
    stream = io.StringIO()
    progress = TerminalProgress(stream=stream)
    progress(0, 3, "reading judgments")
    progress(1, 3, "reading judgments")
    progress(2, 3)
    progress(0, None, "storing judgments")
    progress.close()
    assert stream.getvalue() == "reading judgments ...\nstoring judgments ...\n"


def test_outside_a_terminal_nothing_is_written_if_lines_are_turned_off() -> None:
    stream = io.StringIO()
    progress = TerminalProgress(lines=False, stream=stream)
    progress(0, 3, "reading judgments")
    progress.close()
    assert stream.getvalue() == ""


def test_a_terminal_shows_a_bar_with_count_rate_and_time_left() -> None:
    """The work runs in a separate process, whose stderr is a pseudo-terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [sys.executable, "-c", WORK], cwd=ROOT, env=environment, stderr=theirs
    )
    os.close(theirs)
    shown = read_all(ours)
    assert process.wait() == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert re.search(r"━.* reading the run 2,000 of 4,000, [\d,]+/s 0:00:\d\d", plain)
    assert " storing " in plain
    # At the end, the line is cleared and the cursor is shown again.
    assert plain.endswith("\r")
    assert "\x1b[?25h" in shown.rsplit("storing", 1)[1]


def read_all(terminal: int) -> str:
    """Read what is written to a terminal until its last writer has closed it."""
    pieces = []
    try:
        while piece := os.read(terminal, 4096):
            pieces.append(piece)
    except OSError:  # Linux reports the closed end as an error.
        pass
    os.close(terminal)
    return b"".join(pieces).decode()


def test_the_progress_of_a_part() -> None:
    seen: list[tuple[int, int | None, str]] = []
    part = progress_of_part(lambda *step: seen.append(step), 2, 4, "scoring by BoW")
    part(1, 4, "scoring")
    part(0, None)
    assert seen == [(2250, 4000, "scoring by BoW"), (2000, 4000, "scoring by BoW")]
