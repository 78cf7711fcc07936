"""Import tags of captions or videos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.core.readers.tags import TAGS
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_tags


class Command(HearthCommand):
    help = f"Import tags: {TAGS.listed()}, plain or gzip."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("file", type=Path, help="file with the tags")

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_tags(
            benchmark=get_benchmark(options["key"]),
            path=options["file"],
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        tags, captions = counted(result["tags"], "tag"), counted(result["captions"], "caption")
        self.stdout.write(f"{tags} of {captions}")
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
