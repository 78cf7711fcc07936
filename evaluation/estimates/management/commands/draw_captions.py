"""Draw captions of a run, and open the campaign that judges them."""

from __future__ import annotations

from typing import Any

from evaluation.estimates.services import DrawOptions, draw_captions
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = "Draw captions that no label decides, and open the campaign that judges them."
    action = DrawOptions

    def run(self, **options: Any) -> dict[str, Any]:
        wanted = read_options(DrawOptions, options)
        run = get_run(get_benchmark(options["key"]), wanted.run)
        draw = draw_captions(run=run, options=wanted, by=OPERATOR)
        return {
            "draw": draw.pk,
            "captions": draw.n,
            "undecided": draw.populations[draw.measure]["size"],
            "campaign": draw.campaign_id,
            "name": draw.campaign.name,
            "tasks": draw.campaign.n_tasks,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "draw {draw}: {captions:,} of {undecided:,} undecided captions\n"
            "campaign {campaign} ({name}): {tasks:,} tasks".format(**result)
        )
