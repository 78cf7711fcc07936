"""Add a benchmark of paragraphs to one of sentences."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.paragraphs.actions import AddParagraphs
from pooling.paragraphs.services.joining import add_paragraphs
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Add a benchmark whose captions are paragraphs of the captions of a benchmark."
    action = AddParagraphs

    def run(self, **options: Any) -> dict[str, Any]:
        done = add_paragraphs(
            benchmark=get_benchmark(options["key"]),
            options=read_options(AddParagraphs, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return done.report()

    def report(self, result: dict[str, Any]) -> None:
        paragraphs = counted(result["paragraphs"], "paragraph")
        sentences = counted(result["sentences"], "sentence")
        self.stdout.write(f"benchmark {result['benchmark']}: {paragraphs} of {sentences}")
