"""Pool the top k of some runs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from config.shared.commands import HearthCommand
from pooling.selectors import get_benchmark
from pooling.services import build_pool


class Command(HearthCommand):
    help = "Pool the top k of the runs; only pairs that are not in a pool yet are added."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="the benchmark")
        parser.add_argument("--depth", type=int, required=True, help="how many of each list")
        parser.add_argument("--run", dest="runs", action="append", default=[], metavar="NAME")
        parser.add_argument("--sample", type=int, help="pool this many queries, drawn by the seed")
        parser.add_argument("--seed", type=int, default=0)

    def run(self, **options: Any) -> dict[str, Any]:
        built = build_pool(
            benchmark=get_benchmark(options["key"]),
            depth=options["depth"],
            run_names=options["runs"],
            sample=options["sample"],
            seed=options["seed"],
            progress=self.progress,
        )
        return {
            "pairs": built.pool.n_pairs,
            "new_pairs": built.pool.n_new_pairs if built.created else 0,
            "tasks": built.pool.n_tasks,
            "pool": built.pool.pk,
        }

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
