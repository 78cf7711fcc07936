"""Compare two label sets of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.release.selectors.diffs import KINDS, compare_label_sets
from hearth.shared.commands import HearthCommand
from hearth.shared.files import write_output
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Count the pairs that differ between two label sets. With --output, also write these pairs "
        "as CSV."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("old", help="version number, or draft")
        parser.add_argument("new", help="version number, or draft")
        parser.add_argument("--output", type=Path, metavar="FILE", help="CSV file to write")

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        found = compare_label_sets(benchmark, options["old"], options["new"])
        if options["output"]:
            with write_output(options["output"]) as out:
                for piece in found.csv():
                    out.write(piece)
        return {
            "old": found.old.reference,
            "new": found.new.reference,
            "counts": found.counts,
            "output": str(options["output"]) if options["output"] else None,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write("{old} to {new}".format(**result))
        for kind, label in KINDS.items():
            self.stdout.write(f"  {label}: {result['counts'][kind.name.lower()]:,}")
