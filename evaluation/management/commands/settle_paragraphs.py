"""Store the outcomes of paragraphs that follow from the labels of their sentences."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from annotation.services import import_judgments
from evaluation.core.paragraphs.outcomes import Outcome
from evaluation.release.selectors.paragraphs import outcome_lines, paragraph_pairs
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
        pairs = paragraph_pairs(benchmark)
        campaign = None
        if pairs.is_new.any():
            with tempfile.TemporaryDirectory(dir=settings.HEARTH_HOME, prefix="settle-") as folder:
                path = Path(folder, "paragraphs.csv")
                path.write_text("".join(outcome_lines(benchmark, pairs)), encoding="utf-8")
                campaign = import_judgments(benchmark=benchmark, path=path, by=OPERATOR).campaign
        return {
            "pairs": len(pairs.codes),
            "relevant": pairs.count(Outcome.RELEVANT),
            "not_relevant": pairs.count(Outcome.NOT_RELEVANT),
            "pending": pairs.count(Outcome.PENDING),
            "new": int(pairs.is_new.sum()),
            "changed": int(pairs.is_changed.sum()),
            "campaign": None if campaign is None else campaign.pk,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "{}: relevant {relevant:,}, not relevant {not_relevant:,}, pending {pending:,}\n"
            "stored: {new:,}; pairs that keep another label: {changed:,}".format(
                counted(result["pairs"], "pair"), **result
            )
        )
