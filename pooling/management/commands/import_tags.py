"""Import tags of captions or videos."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import add_options, read_options
from hearth.shared.words import counted
from pooling.core.readers.tags import TAGS
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_tags
from pooling.services.metadata import TagsUpload


class Command(HearthCommand):
    help = f"Import tags: {TAGS.listed()}, plain or gzip."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        add_options(parser, TagsUpload)

    def run(self, **options: Any) -> dict[str, Any]:
        sent = read_options(TagsUpload, options)
        done = import_tags(
            benchmark=get_benchmark(options["key"]),
            path=sent.file.path,
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        tags, captions = counted(result["tags"], "tag"), counted(result["captions"], "caption")
        self.stdout.write(f"{tags} of {captions}")
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
