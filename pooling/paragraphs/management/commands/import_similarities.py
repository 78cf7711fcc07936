"""Import similarities of sentences and clips."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.paragraphs.actions import ImportSimilarities
from pooling.paragraphs.services.focusing import import_similarities
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Import the similarities of sentences and clips (JSON lines), by the system of a run."
    action = ImportSimilarities

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_similarities(
            benchmark=get_benchmark(options["key"]),
            options=read_options(ImportSimilarities, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return done.report()

    def report(self, result: dict[str, Any]) -> None:
        already = "" if result["created"] else " (already stored)"
        pairs = counted(result["pairs"], "pair")
        self.stdout.write(f"run {result['run']}: {pairs}, sha256 {result['sha256']}{already}")
