"""Pool the top k of runs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.selectors.effort import preview_pool
from annotation.selectors.tasks import count_new_tasks
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import add_options, read_options
from hearth.shared.words import counted, tasks_to_judge
from pooling.core.pool_options import PoolRequest
from pooling.models import Benchmark
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import build_pool


class Command(HearthCommand):
    help = "Pool the top k of runs. Only pairs that no earlier pool contains need judging."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        add_options(parser, PoolRequest)
        parser.add_argument(
            "--plan",
            action="store_true",
            help="print what the pool would contain, and store nothing",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark, wanted = get_benchmark(options["key"]), read_options(PoolRequest, options)
        if options["plan"]:
            return {**preview_pool(benchmark, wanted.pool, wanted.rate, wanted.seconds).report()}
        built = build_pool(
            benchmark=benchmark, options=wanted.pool, by=OPERATOR, progress=self.progress
        )
        return {**built.report()}

    def report(self, result: dict[str, Any]) -> None:
        if "pool" not in result:
            self._report_plan(result)
            return
        pairs = counted(result["pairs"], "pair")
        self.stdout.write(
            f"pool {result['pool']}: {pairs}, {result['new_pairs']:,} of them in no earlier pool"
        )
        benchmark = Benchmark.objects.get(pools=result["pool"])
        self.stdout.write(f"for the next campaign: {count_new_tasks(benchmark)}")

    def _report_plan(self, result: dict[str, Any]) -> None:
        added = tasks_to_judge(result["new_tasks"], result["task_pairs"])
        self.stdout.write(f"{added}; labels to collect: {result['labels']:,}")
        if result["waiting_tasks"]:
            waiting = tasks_to_judge(result["waiting_tasks"], result["waiting_pairs"])
            self.stdout.write(f"earlier pools also have {waiting}")
        self.stdout.write(
            f"{counted(result['pairs'], 'pair')}, {result['new_pairs']:,} of them in no earlier "
            "pool"
        )
        if result["unranked"]:
            self.stdout.write(f"new pairs that no run ranks: {result['unranked']:,}")
        if result["left_out"]:
            self.stdout.write(f"the budget leaves out {counted(result['left_out'], 'new pair')}")
        cost = "" if result["cost"] is None else f", at a cost of {result['cost']:,.2f}"
        assumed = "" if result["answers"] else " (assumed)"
        self.stdout.write(
            f"{result['hours']:,.1f} hours at {result['seconds']:.1f} s per answer{assumed}{cost}"
        )
        for stratum in result.get("strata", []):
            self.stdout.write(
                f"stratum {stratum['name']}: {stratum['drawn']:,} of "
                f"{counted(stratum['pairs'], 'pair')} to judge; relevant pairs then known to "
                f"±{stratum['margin']:,.0f}"
            )
        self.stdout.write("nothing was stored")
