"""Focus a run by the matching of sentences and clips."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.paragraphs.actions import FocusRun
from pooling.paragraphs.services.focusing import focus_run
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Re-rank the first videos of a run by the matching of sentences and clips."
    action = FocusRun

    def run(self, **options: Any) -> dict[str, Any]:
        done = focus_run(
            benchmark=get_benchmark(options["key"]),
            options=read_options(FocusRun, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        already = "" if result["created"] else " (already stored)"
        lists = counted(result["queries"], "list")
        self.stdout.write(f"run {result['run']}: {lists}, sha256 {result['sha256']}{already}")
