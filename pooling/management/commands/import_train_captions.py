"""Import the captions that systems were trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_train_captions


class Command(HearthCommand):
    help = "Import train captions: CSV (plain or gzip) with the column `caption`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("file", type=Path, help="file with the captions")
        parser.add_argument("--name", default="", help="name of the split; default: train")

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_train_captions(
            benchmark=get_benchmark(options["key"]),
            path=options["file"],
            name=options["name"],
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "train split {split}: {number}, sha256 {sha256}{already}".format(
                number=counted(result["captions"], "caption"),
                already="" if result["created"] else " (already stored)",
                **result,
            )
        )
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
