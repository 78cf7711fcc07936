"""Import embeddings of captions and their phrasings."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from pooling.phrasings.services.vectors import TextVectorsUpload, import_text_vectors
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Import embeddings of the captions and of their phrasings, to select phrasings by them."
    action = TextVectorsUpload

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_text_vectors(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(read_options(TextVectorsUpload, options)),
        )
        return {**done}

    def report(self, result: dict[str, Any]) -> None:
        text = "{rows:,} embeddings of {numbers:,} numbers, sha256 {sha256}"
        self.stdout.write(text.format(**result))
