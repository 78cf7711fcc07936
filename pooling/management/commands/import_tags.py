"""Import tags of captions or videos."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from hearth.shared.words import counted
from pooling.core.readers.tags import TAGS
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_tags
from pooling.services.metadata import TagsUpload


class Command(HearthCommand):
    help = f"Import tags: {TAGS.listed()}, plain or gzip."
    action = TagsUpload

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_tags(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(read_options(TagsUpload, options)),
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        tags, captions = counted(result["tags"], "tag"), counted(result["captions"], "caption")
        self.stdout.write(f"{tags} of {captions}")
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
