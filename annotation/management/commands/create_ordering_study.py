"""Open an ordering study."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.core.orderings import Levels
from annotation.services import StudyOptions, open_ordering_study, plan_ordering_study
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Open a campaign in which people put five captions of each video in order."

    def add_arguments(self, parser: CommandParser) -> None:
        default = StudyOptions()
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument(
            "--proxy", required=True, metavar="NAME", help="proxy that chooses the captions"
        )
        parser.add_argument(
            "--videos",
            type=int,
            default=default.videos,
            metavar="N",
            help=f"maximum number of videos; default: {default.videos}",
        )
        parser.add_argument(
            "--levels",
            choices=[level.value for level in Levels],
            default=default.levels.value,
            help="whether the quartiles are taken over all captions, ranked by the proxy, or over "
            f"the distinct values of the proxy; default: {default.levels}",
        )
        parser.add_argument(
            "--labels",
            type=int,
            default=default.labels_each,
            metavar="N",
            help=f"orders per video, by different people; default: {default.labels_each}",
        )
        parser.add_argument(
            "--seed",
            type=int,
            default=default.seed,
            help="seed that draws the videos, decides between captions with equal values and "
            f"arranges the captions on the screen; default: {default.seed}",
        )
        parser.add_argument("--name", default="")
        parser.add_argument(
            "--plan", action="store_true", help="print what the study would contain; store nothing"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark, proxy = get_benchmark(options["key"]), options["proxy"]
        chosen = StudyOptions(
            videos=options["videos"],
            levels=Levels(options["levels"]),
            labels_each=options["labels"],
            seed=options["seed"],
        )
        if options["plan"]:
            return {**plan_ordering_study(benchmark, proxy=proxy, options=chosen).report()}
        study = open_ordering_study(
            benchmark=benchmark, by=OPERATOR, proxy=proxy, options=chosen, name=options["name"]
        )
        return {
            "campaign": study.pk,
            "name": study.name,
            "videos": study.n_tasks,
            "requested": chosen.videos,
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
