"""Request second labels of the positives that decide a score alone."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.services import open_confirmation
from config.accounts.actors import OPERATOR
from config.shared.commands import HearthCommand
from config.shared.errors import InvalidInput
from evaluation.release.selectors import LATEST, deciding_pairs, find_label_set
from pooling.selectors import get_benchmark, get_run


class Command(HearthCommand):
    help = "Request second labels of the positives that decide C@k of a run alone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="the benchmark")
        parser.add_argument("--run", required=True, metavar="NAME")
        parser.add_argument("--cutoff", type=int, default=10, help="the k of C@k")
        parser.add_argument("--labels", default=LATEST, help="latest or a version")
        parser.add_argument("--name", default="", help="name of the campaign")
        parser.add_argument("--seed", type=int, default=0)

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        run = get_run(benchmark, options["run"])
        if not 1 <= options["cutoff"] <= run.depth:
            raise InvalidInput(f"the cutoff must lie between 1 and the depth of {run.depth}")
        label_set = find_label_set(benchmark, options["labels"])
        if label_set is None:
            raise InvalidInput(
                "the original positives need no confirmation: name a label set with --labels"
            )
        deciding, codes = deciding_pairs(run, label_set, options["cutoff"])
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
            "deciding": deciding,
            "tasks": campaign.n_tasks,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "campaign {campaign} ({name})\nsecond labels requested: {tasks:,}\ncaptions with a "
            "single positive: {deciding:,}".format(**result)
        )
