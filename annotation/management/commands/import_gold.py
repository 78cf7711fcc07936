"""Import gold items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.enums import GoldUse
from annotation.services import import_gold
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Import gold items (caption_id,video_id,label,explanation) for training or control."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--use",
            choices=GoldUse.values,
            required=True,
            help="training shows the correct answer, control does not",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        count = import_gold(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            path=options["file"],
            use=GoldUse(options["use"]),
            progress=self.progress,
        )
        return {"gold": count, "use": options["use"]}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{counted(result['gold'], 'gold item')} for {result['use']}")
