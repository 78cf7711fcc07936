"""Request second labels for the sole positives of a run."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.services import open_confirmation
from config.accounts.actors import OPERATOR
from config.shared.commands import HearthCommand
from config.shared.errors import InvalidInput
from evaluation.release.selectors import LATEST, find_label_set, unconfirmed_sole_positives
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = "Request second labels for the sole positives on which C@k of a run depends."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("--run", required=True, metavar="NAME", help="name of the run")
        parser.add_argument(
            "--cutoff", type=int, default=10, metavar="K", help="the k of C@k; default: 10"
        )
        parser.add_argument(
            "--labels",
            default=LATEST,
            help="label set: latest or a version number; default: latest",
        )
        parser.add_argument(
            "--name",
            default="",
            help="name of the campaign, which annotators see; default: the key and a number",
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="seed of the task order; default: 0"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        run = get_run(benchmark, options["run"])
        if not 1 <= options["cutoff"] <= run.depth:
            raise InvalidInput(
                f"The cutoff must be between 1 and the depth of the run, {run.depth}."
            )
        label_set = find_label_set(benchmark, options["labels"])
        if label_set is None:
            raise InvalidInput(
                "Original positives are certain and need no second label. Choose a label set with "
                "--labels."
            )
        count, codes = unconfirmed_sole_positives(run, label_set, options["cutoff"])
        campaign = open_confirmation(
            benchmark=benchmark,
            by=OPERATOR,
            codes=codes,
            seed=options["seed"],
            name=options["name"],
        )
        return {
            "campaign": campaign.pk,
            "name": campaign.name,
            "deciding": count,
            "tasks": campaign.n_tasks,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "campaign {campaign} ({name})\nsecond labels requested: {tasks:,}\n"
            "sole positives: {deciding:,}".format(**result)
        )
