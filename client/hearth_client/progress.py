"""Progress bars of uploads, downloads and jobs."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from hearth_client.uploads import OnBytes


class Bars:
    """A bar for each transfer of files, and one for each job. Only a terminal shows them."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._jobs: dict[str, TaskID] = {}

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def on_bytes(self, title: str) -> OnBytes:
        task = self._progress.add_task(escape(title), total=None)
        return lambda done, total: self._progress.update(task, completed=done, total=total or None)

    def on_job(self, job: dict[str, Any]) -> None:
        if job["id"] not in self._jobs:
            self._jobs[job["id"]] = self._progress.add_task("", total=None)
        text = escape(f"{job['title']}: {job['phase'] or job['state']}")
        self._progress.update(
            self._jobs[job["id"]], description=text, completed=job["done"], total=job["total"]
        )
