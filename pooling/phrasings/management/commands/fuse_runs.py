"""Fuse several runs, or the phrasings of one run."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.phrasings.services.fusing import FuseOptions, fuse_runs
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Fuse several runs, or the lists of the phrasings of one run, into a new run."
    action = FuseOptions

    def run(self, **options: Any) -> dict[str, Any]:
        done = fuse_runs(
            benchmark=get_benchmark(options["key"]),
            options=read_options(FuseOptions, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        size = f"{counted(result['queries'], 'list')}, depth {result['depth']}"
        already = "" if result["created"] else " (already stored)"
        self.stdout.write(f"run {result['run']}: {size}, sha256 {result['sha256']}{already}")
        for warning in result["warnings"]:
            self.stdout.write(f"note: {warning}")
