"""Delete a benchmark, or one of its runs, proxies, pools, campaigns or train splits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Model

from annotation import services as annotation
from annotation.models import Campaign
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.deleting import plan_deletion
from hearth.shared.errors import InvalidInput
from pooling import services as pooling
from pooling.models import Benchmark, Pool, TrainSplit
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.proxies import get_proxy
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = "Delete a benchmark or a part of it. Without --yes, only show what would be deleted."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--run", metavar="NAME", help="delete this run instead")
        part.add_argument("--proxy", metavar="NAME", help="delete this proxy instead")
        part.add_argument("--pool", type=int, metavar="ID", help="delete this pool instead")
        part.add_argument("--campaign", type=int, metavar="ID", help="delete this campaign instead")
        part.add_argument("--train-captions", metavar="NAME", help="delete this split instead")
        parser.add_argument("--yes", action="store_true", help="delete permanently")

    def run(self, **options: Any) -> dict[str, Any]:
        instance, delete = _selected(get_benchmark(options["key"]), options)
        plan = plan_deletion(instance)
        if options["yes"]:
            plan = delete()
        return {
            "deleted": options["yes"],
            "rows": plan.facts,
            "obstacles": [obstacle.reason for obstacle in plan.obstacles],
        }

    def report(self, result: dict[str, Any]) -> None:
        for reason in result["obstacles"]:
            self.stdout.write(f"must stay: {reason}")
        verb = "deleted" if result["deleted"] else "would delete"
        for noun, number in result["rows"].items():
            self.stdout.write(f"{verb}: {number:,} {noun}")
        if not result["deleted"] and not result["obstacles"]:
            self.stdout.write("Add --yes to delete.")


def _selected(benchmark: Benchmark, options: dict[str, Any]) -> tuple[Model, Callable[[], Any]]:
    """Return the object that the options select, and a function that deletes it."""
    if name := options["run"]:
        run = get_run(benchmark, name)
        return run, lambda: pooling.delete_run(run=run, by=OPERATOR)
    if name := options["proxy"]:
        proxy = get_proxy(benchmark, name)
        return proxy, lambda: pooling.delete_proxy(proxy=proxy, by=OPERATOR)
    if (pk := options["pool"]) is not None:
        pool = _found(Pool.objects.filter(benchmark=benchmark, pk=pk).first(), "pool", pk)
        return pool, lambda: pooling.delete_pool(pool=pool, by=OPERATOR)
    if (pk := options["campaign"]) is not None:
        campaigns = Campaign.objects.filter(benchmark=benchmark, pk=pk)
        campaign = _found(campaigns.first(), "campaign", pk)
        return campaign, lambda: annotation.delete_campaign(campaign=campaign, by=OPERATOR)
    if name := options["train_captions"]:
        splits = TrainSplit.objects.filter(benchmark=benchmark, name=name)
        split = _found(splits.defer("texts").first(), "train split", name)
        return split, lambda: pooling.delete_train_split(split=split, by=OPERATOR)
    return benchmark, lambda: pooling.delete_benchmark(benchmark=benchmark, by=OPERATOR)


def _found(instance: Any, noun: str, name: object) -> Any:
    if instance is None:
        raise InvalidInput(f"There is no {noun} {name!r} in this benchmark.")
    return instance
