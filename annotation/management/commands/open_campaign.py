"""Open a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from annotation.enums import Scale
from annotation.services import CampaignOptions, open_campaign
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from hearth.shared.words import counted
from pooling.enums import MediaState
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Open a campaign over all pooled pairs that are not in a campaign yet."
    action = CampaignOptions

    def run(self, **arguments: Any) -> dict[str, Any]:
        options = read_options(CampaignOptions, arguments)
        if len(options.policy.steps) > 2:
            options = replace(options, policy=replace(options.policy, scale=Scale.GRADED))
        campaign = open_campaign(
            benchmark=get_benchmark(arguments["key"]), by=OPERATOR, **arguments_of(options)
        )
        doubled = campaign.tasks.filter(labels_planned__gt=campaign.labels_each)
        return {
            "campaign": campaign.pk,
            "name": campaign.name,
            "tasks": campaign.n_tasks,
            "doubled": doubled.count(),
            # No annotator can judge these until a file or an address of the video is imported.
            "without_video": campaign.tasks.filter(pair__video__state=MediaState.MISSING).count(),
        }

    def report(self, result: dict[str, Any]) -> None:
        tasks = counted(result["tasks"], "task")
        self.stdout.write(
            f"campaign {result['campaign']} ({result['name']}): {tasks}, {result['doubled']:,} of "
            "them with an extra label"
        )
        if result["without_video"]:
            self.stdout.write(
                "warning: tasks whose video has neither a file nor an address: "
                f"{result['without_video']:,}; import the videos with import_benchmark --videos"
            )
