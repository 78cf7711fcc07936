"""A live progress bar in a terminal, with count, rate and time left."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class CountColumn(ProgressColumn):
    """Render the count, the total if it is known, and the rate: `1,200 of 27,763, 310/s`."""

    def render(self, task: Task) -> Text:
        if not task.total:
            return Text("")
        rate = f", {task.speed:,.0f}/s" if task.speed else ""
        return Text(f"{task.completed:,.0f} of {task.total:,.0f}{rate}")


class Bar:
    """The bar of one phase. It is drawn until `close`, which removes it from the screen."""

    def __init__(self, phase: str, stream: TextIO) -> None:
        self._progress = Progress(
            BarColumn(bar_width=30),
            TextColumn("{task.description}", markup=False),
            CountColumn(),
            TimeRemainingColumn(),
            console=Console(file=stream),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task(phase, total=None)
        self._progress.start()

    def update(self, done: int, total: int | None) -> None:
        # A bar with a total of 0 would be complete.
        self._progress.update(self._task, completed=done, total=total or None)

    def close(self) -> None:
        self._progress.stop()
