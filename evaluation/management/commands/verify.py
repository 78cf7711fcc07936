"""Rebuild published label sets from the log of judgments, and compare the bytes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.models import LabelSet
from evaluation.release.selectors import find_label_set
from evaluation.release.selectors.verification import verify_label_set
from hearth.shared.commands import HearthCommand
from hearth.shared.errors import InvalidInput
from pooling.selectors.benchmarks import get_benchmark

DIFFERENT = 1


class Command(HearthCommand):
    help = (
        "Rebuild the files of published label sets from the log of judgments and rulings, and "
        "compare the bytes. The exit code is 1 if a label set differs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", nargs="?", help="key of the benchmark; default: all")
        parser.add_argument(
            "label_set", nargs="?", help="label set: latest or a version number; default: all"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self.differing:
            raise CommandError(f"Not verified: {', '.join(self.differing)}.", returncode=DIFFERENT)

    def run(self, **options: Any) -> dict[str, Any]:
        label_sets = _label_sets(options["key"], options["label_set"])
        rows = []
        for number, label_set in enumerate(label_sets):
            self.progress(number, len(label_sets), "verifying")
            rows.append(verify_label_set(label_set).as_json)
        self.differing = [f"{row['benchmark']} {row['version']}" for row in rows if not row["same"]]
        return {"same": not self.differing, "label_sets": rows}

    def report(self, result: dict[str, Any]) -> None:
        for row in result["label_sets"]:
            self.stdout.write("{benchmark} {version}: {sentence}".format(**row))
        if not result["label_sets"]:
            self.stdout.write("There is no label set.")


def _label_sets(key: str | None, which: str | None) -> list[LabelSet]:
    found = LabelSet.objects.select_related("benchmark")
    if key is None:
        return list(found.order_by("benchmark__key", "pk"))
    benchmark = get_benchmark(key)
    if which is None:
        return list(found.filter(benchmark=benchmark).order_by("pk"))
    label_set = find_label_set(benchmark, which)
    if label_set is None:
        raise InvalidInput("The original positives are not a label set. Choose a version number.")
    return [label_set]
