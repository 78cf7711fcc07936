"""Import control orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.questions.order.gold import import_control_orders
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Import control orders (video_id,caption_id,step,explanation) for ordering studies."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("file", type=Path)

    def run(self, **options: Any) -> dict[str, Any]:
        count = import_control_orders(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            path=options["file"],
            progress=self.progress,
        )
        return {"control_orders": count}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(counted(result["control_orders"], "control order"))
