"""Open a round of judging."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.enums import Scale
from annotation.services import open_campaign
from config.shared.commands import HearthCommand
from pooling.enums import MediaState
from pooling.selectors import get_benchmark


class Command(HearthCommand):
    help = "Open a campaign over all pooled pairs that no campaign holds yet."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="the benchmark")
        parser.add_argument("--double", type=float, default=0.10, help="share labelled twice")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--scale", choices=Scale.values, default=Scale.BINARY)
        parser.add_argument("--name", default="")

    def run(self, **options: Any) -> dict[str, Any]:
        campaign = open_campaign(
            benchmark=get_benchmark(options["key"]),
            double_share=options["double"],
            seed=options["seed"],
            scale=Scale(options["scale"]),
            name=options["name"],
        )
        doubled = campaign.tasks.filter(labels_planned=2).count()
        return {
            "campaign": campaign.pk,
            "name": campaign.name,
            "tasks": campaign.n_tasks,
            "doubled": doubled,
            # Nobody can judge these until a file or an address is imported.
            "without_video": campaign.tasks.filter(pair__video__state=MediaState.MISSING).count(),
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "campaign {campaign} ({name}): {tasks:,} tasks, {doubled:,} of them labelled "
            "twice".format(**result)
        )
        if result["without_video"]:
            self.stdout.write(
                "warning: the videos of {without_video:,} tasks have neither file nor address; "
                "import_benchmark with --videos brings them".format(**result)
            )
