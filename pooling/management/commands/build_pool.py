"""Pool the top k of runs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from config.accounts.actors import OPERATOR
from config.shared.commands import HearthCommand
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import build_pool


class Command(HearthCommand):
    help = "Pool the top k of runs. Only pairs that no earlier pool contains are added."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument(
            "--depth",
            type=int,
            required=True,
            metavar="K",
            help="number of videos that each run adds per caption",
        )
        parser.add_argument(
            "--run",
            dest="runs",
            action="append",
            default=[],
            metavar="NAME",
            help="a run to pool, repeatable; default: all",
        )
        parser.add_argument(
            "--sample",
            type=int,
            metavar="N",
            help="number of captions to pool, drawn with the seed; default: all",
        )
        parser.add_argument("--seed", type=int, default=0, help="seed of the sample; default: 0")

    def run(self, **options: Any) -> dict[str, Any]:
        built = build_pool(
            benchmark=get_benchmark(options["key"]),
            depth=options["depth"],
            run_names=options["runs"],
            sample=options["sample"],
            seed=options["seed"],
            by=OPERATOR,
            progress=self.progress,
        )
        return {**built.report()}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "pool {pool}: {pairs:,} pairs, {new_pairs:,} of them new, {tasks:,} tasks".format(
                **result
            )
        )
        saved = result["pairs"] - result["tasks"]
        if saved:
            self.stdout.write(
                f"captions with equal texts share a task, which saves {saved:,} "
                f"judgment{'' if saved == 1 else 's'} ({saved / result['pairs']:.0%})"
            )
