"""Store the outcomes of paragraphs that follow from the labels of their sentences."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.release.services.paragraphs import settle_paragraphs
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Store the labels of paragraphs that follow from the current labels of their sentences, as "
        "imported judgments. Pairs that already have a label keep it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark of paragraphs")

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        done = settle_paragraphs(benchmark=benchmark, by=OPERATOR, progress=self.progress)
        return {**done}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "{}: relevant {relevant:,}, not relevant {not_relevant:,}, pending {pending:,}\n"
            "stored: {new:,}; pairs that keep another label: {changed:,}".format(
                counted(result["pairs"], "pair"), **result
            )
        )
