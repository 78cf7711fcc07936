"""Request second labels for the sole positives of a run, or for all positives."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.services import open_confirmation
from evaluation.release.selectors import LATEST, find_label_set, positives_to_confirm
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = (
        "Request second labels for the sole positives on which C@k of a run depends, or for all "
        "positives, on which AP, R@k and nDCG depend."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument(
            "--run", metavar="NAME", help="name of the run whose sole positives are confirmed"
        )
        which.add_argument("--all", action="store_true", help="confirm all positives")
        parser.add_argument(
            "--cutoff",
            type=int,
            default=10,
            metavar="K",
            help="with --run: the k of C@k; default: 10",
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
        run = None if options["all"] else get_run(benchmark, options["run"])
        label_set = find_label_set(benchmark, options["labels"])
        count, codes = positives_to_confirm(label_set, run, options["cutoff"])
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
            # The number of sole positives; null with --all.
            "deciding": None if run is None else count,
            "positives": count,
            "tasks": campaign.n_tasks,
        }

    def report(self, result: dict[str, Any]) -> None:
        kind = "positives" if result["deciding"] is None else "sole positives"
        self.stdout.write(
            "campaign {campaign} ({name})\nsecond labels requested: {tasks:,}\n"
            "{kind}: {positives:,}".format(kind=kind, **result)
        )
