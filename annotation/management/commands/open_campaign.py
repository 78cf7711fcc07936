"""Open a campaign."""

from __future__ import annotations

import argparse
import re
from typing import Any

from django.core.management.base import CommandParser

from annotation.enums import Joining, Order, Priority, Scale
from annotation.services import Policy, open_campaign
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.enums import MediaState
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Open a campaign over all pooled pairs that are not in a campaign yet."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("--name", default="")
        parser.add_argument("--seed", type=int, default=0)
        add_labels(parser.add_argument_group("labels"))
        add_annotators(parser.add_argument_group("annotators"))
        add_aids(parser.add_argument_group("order and judging aids"))

    def run(self, **options: Any) -> dict[str, Any]:
        campaign = open_campaign(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            seed=options["seed"],
            policy=policy_of(options),
            name=options["name"],
            proxy=options["proxy"],
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


def add_labels(group: Any) -> None:
    group.add_argument("--labels", type=int, default=1, help="labels per pair")
    group.add_argument(
        "--double", type=float, default=0.10, help="share of pairs with an extra label"
    )
    group.add_argument("--labels-max", type=int, default=3, help="maximum labels per pair")
    group.add_argument("--scale", choices=Scale.values, default=Scale.BINARY)
    group.add_argument(
        "--steps",
        type=comma_separated,
        default=[],
        help="names of the steps of the scale, lowest first, for example no,partly,yes",
    )
    group.add_argument(
        "--threshold",
        type=int,
        default=1,
        help="lowest step that counts as relevant; steps are numbered from 0",
    )
    group.add_argument(
        "--original-grade", type=int, help="label of original positives (default: the highest)"
    )


def add_annotators(group: Any) -> None:
    group.add_argument("--joining", choices=Joining.values, default=Joining.ALL)
    group.add_argument("--ceiling", type=float, default=1.0, help="maximum share per annotator")
    group.add_argument(
        "--gate",
        type=part_of_last,
        default=(0, 0),
        help="entry requirement, for example 18/20 for 18 correct of the last 20 training answers",
    )
    group.add_argument("--gold", type=float, default=0.0, help="share of control pairs")
    group.add_argument(
        "--gold-bar",
        type=part_of_last,
        default=(0, 10),
        help="accuracy requirement, for example 8/10 for 8 correct of the last 10 control answers; "
        "annotators below it are paused",
    )


def add_aids(group: Any) -> None:
    group.add_argument("--order", choices=Order.values, default=Order.GROUPED)
    group.add_argument(
        "--priority",
        choices=Priority.values,
        default=Priority.NONE,
        help="rank: pairs with the best rank come first; proxy: pairs with high values by --proxy. "
        "Annotators may notice that early pairs are more often relevant.",
    )
    group.add_argument("--proxy", default="", metavar="NAME", help="proxy that orders the pairs")
    group.add_argument("--checklist", action="store_true", help="show the elements of the caption")
    group.add_argument(
        "--contact-sheet", action="store_true", help="offer still pictures of the video"
    )


def policy_of(options: dict[str, Any]) -> Policy:
    gate_right, gate_last = options["gate"]
    bar_right, bar_last = options["gold_bar"]
    steps = options["steps"]
    return Policy(
        scale=Scale.GRADED if len(steps) > 2 else Scale(options["scale"]),
        steps=steps,
        threshold=options["threshold"],
        original_grade=options["original_grade"],
        labels_each=options["labels"],
        double_share=options["double"],
        labels_max=options["labels_max"],
        order=Order(options["order"]),
        priority=Priority(options["priority"]),
        joining=Joining(options["joining"]),
        ceiling=options["ceiling"],
        gate_share=gate_right / gate_last if gate_last else 0,
        gate_last=gate_last,
        gold_share=options["gold"],
        gold_bar=bar_right / bar_last,
        gold_last=bar_last,
        checklist=options["checklist"],
        contact_sheet=options["contact_sheet"],
    )


def comma_separated(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def part_of_last(text: str) -> tuple[int, int]:
    """Parse a text such as `18/20`, which means 18 of the last 20."""
    match = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", text)
    if match is None or int(match[2]) == 0 or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(
            f"{text!r} must have the form 18/20, and the second number must be above 0 and not "
            "below the first"
        )
    return int(match[1]), int(match[2])
