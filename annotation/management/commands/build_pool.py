"""Pool the top k of runs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.selectors.effort import preview_pool
from annotation.selectors.tasks import count_new_tasks
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted, tasks_to_judge
from pooling.core.pool_options import PROXY_FROM, SIMILARITY, PoolOptions
from pooling.enums import Originals
from pooling.models import Benchmark
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import build_pool


class Command(HearthCommand):
    help = "Pool the top k of runs. Only pairs that no earlier pool contains need judging."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument(
            "--depth",
            type=int,
            required=True,
            metavar="K",
            help="number of items to pool from the top of each ranked list",
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
        parser.add_argument(
            "--seed",
            type=int,
            default=0,
            help="seed of the samples and of the order of pairs with equal priority; default: 0",
        )
        self._add_limits(parser)
        parser.add_argument(
            "--plan",
            action="store_true",
            help="print what the pool would contain, and store nothing",
        )
        parser.add_argument(
            "--rate", type=float, metavar="MONEY", help="cost of an hour of judging, for --plan"
        )
        parser.add_argument(
            "--seconds",
            type=float,
            help="assumed time of an answer, for --plan; default: the median of the recorded "
            "times, or 8 before the first one",
        )

    def _add_limits(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--video-sample",
            type=int,
            metavar="N",
            help="number of videos to pool, drawn with the seed; default: all",
        )
        parser.add_argument(
            "--originals",
            choices=Originals.values,
            default=Originals.RANKED,
            help="original positives of the pool: only those that a run ranks, all (added), or "
            "none (left-out); default: ranked",
        )
        parser.add_argument(
            "--similar",
            type=int,
            metavar="N",
            help="pair each caption with the original positives of the N captions with the most "
            "similar texts",
        )
        parser.add_argument(
            "--similar-from",
            type=float,
            default=SIMILARITY,
            metavar="COSINE",
            help=f"lowest similarity of the texts for --similar; default: {SIMILARITY}",
        )
        parser.add_argument(
            "--proxy",
            default="",
            metavar="NAME",
            help="a proxy; its pairs with high values are added",
        )
        parser.add_argument(
            "--proxy-from",
            type=float,
            default=PROXY_FROM,
            metavar="VALUE",
            help=f"lowest value of the pairs that --proxy adds; default: {PROXY_FROM}",
        )
        parser.add_argument(
            "--budget",
            type=int,
            metavar="N",
            help="maximum number of new pairs; pairs that more systems rank come first, then pairs "
            "with a better rank",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark, chosen = get_benchmark(options["key"]), PoolOptions.of(options)
        if options["plan"]:
            planned = preview_pool(benchmark, chosen, options["rate"], options["seconds"])
            return {**planned.report()}
        built = build_pool(benchmark=benchmark, options=chosen, by=OPERATOR, progress=self.progress)
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
        self.stdout.write("nothing was stored")
