"""Write moments for training in three levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.release.exports.training import TrainingMoments, training_rows
from hearth.shared.commands import HearthCommand
from hearth.shared.files import write_output
from hearth.shared.options import add_options, read_options
from pooling.relevant_pairs.selectors import get_relevant_pairs
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Write the moments of all captions as CSV for training: positive, potentially relevant "
        "with their confidence, and negative. Labels and spans of people replace the machine’s."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("name", help="name of the potentially relevant pairs")
        parser.add_argument("--output", type=Path, required=True, help="file to write")
        add_options(parser, TrainingMoments)

    def run(self, **options: Any) -> dict[str, Any]:
        wanted = read_options(TrainingMoments, options)
        pairs = get_relevant_pairs(get_benchmark(options["key"]), options["name"])
        rows = -1  # the header is no row
        with write_output(options["output"]) as out:
            for part in training_rows(pairs, wanted):
                rows += part.count("\n")
                out.write(part.encode())
        return {"moments": rows, "output": str(options["output"])}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{result['moments']:,} moments: {result['output']}")
