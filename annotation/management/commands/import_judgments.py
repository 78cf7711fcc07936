"""Import judgments from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.enums import Scale
from annotation.services import import_judgments
from config.accounts.actors import OPERATOR
from config.shared.commands import HearthCommand
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Import judgments (caption_id,video_id,annotator,label) as a closed campaign."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("file", type=Path)
        parser.add_argument("--scale", choices=Scale.values, default=Scale.BINARY)
        parser.add_argument(
            "--pool-equal",
            action="store_true",
            help="share labels among captions with equal texts",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_judgments(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            path=options["file"],
            scale=Scale(options["scale"]),
            pool_equal=options["pool_equal"],
            progress=self.progress,
        )
        return {
            "judgments": done.judgments,
            "pairs": done.pairs,
            "tasks": done.campaign.n_tasks,
            "campaign": done.campaign.pk,
            "created": done.created,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "campaign {campaign}: {judgments:,} judgments of {pairs:,} pairs{already}".format(
                already="" if result["created"] else " (already imported)", **result
            )
        )
