"""Make further texts of the captions of a benchmark."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.phrasings.services.expanding import ExpandOptions, expand
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Make further texts of the captions of a benchmark, and store them as phrasings."
    action = ExpandOptions

    def run(self, **options: Any) -> dict[str, Any]:
        done = expand(
            benchmark=get_benchmark(options["key"]),
            options=read_options(ExpandOptions, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        stored = "stored" if result["created"] else "already stored"
        size = f"{counted(result['phrasings'], 'phrasing')} of"
        self.stdout.write(f"{size} {counted(result['captions'], 'caption')}: {stored}")
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
