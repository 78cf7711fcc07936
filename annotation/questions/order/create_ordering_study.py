"""Open an ordering study."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.questions.order.study import NewStudy, open_ordering_study, plan_ordering_study
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Open a campaign in which people put five captions of each video in order."
    action = NewStudy

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--plan", action="store_true", help="print what the study would contain; store nothing"
        )

    def run(self, **arguments: Any) -> dict[str, Any]:
        benchmark, new = get_benchmark(arguments["key"]), read_options(NewStudy, arguments)
        if arguments["plan"]:
            return {**plan_ordering_study(benchmark, proxy=new.proxy, options=new.study).report()}
        study = open_ordering_study(
            benchmark=benchmark, by=OPERATOR, proxy=new.proxy, options=new.study, name=new.name
        )
        return {
            "campaign": study.pk,
            "name": study.name,
            "videos": study.n_tasks,
            "requested": new.study.videos,
            "labels": study.n_tasks * study.labels_each,
        }

    def report(self, result: dict[str, Any]) -> None:
        if "campaign" in result:
            self.stdout.write("campaign {campaign} ({name}):".format(**result))
        self.stdout.write(
            "{videos:,} of {requested:,} requested videos; orders to collect: {labels:,}".format(
                **result
            )
        )
        if "campaign" not in result:
            self._report_plan(result)

    def _report_plan(self, result: dict[str, Any]) -> None:
        if result["with_ties"]:
            self.stdout.write(
                "videos for which the proxy has the same value for two of the captions: "
                f"{result['with_ties']:,}"
            )
        if result["unplayable"]:
            self.stdout.write(f"videos left out because they cannot play: {result['unplayable']:,}")
        for reason, number in result["refused"].items():
            self.stdout.write(f"videos left out because {reason}: {number:,}")
        self.stdout.write("nothing was stored")
