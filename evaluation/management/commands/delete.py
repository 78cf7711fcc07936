"""Delete a benchmark, or one of its runs, proxies, pools, campaigns, train splits or phrasings."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Model, QuerySet

from annotation.models import Campaign
from hearth.accounts.actors import OPERATOR
from hearth.jobs.deleting import delete
from hearth.shared.commands import HearthCommand
from hearth.shared.deleting import plan_deletion
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark, Pool, TrainSplit
from pooling.phrasings.models import PhrasingSet
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.proxies import get_proxy
from pooling.selectors.runs import get_run

# The models of the options that state a primary key.
NUMBERED: dict[str, type[Model]] = {"pool": Pool, "campaign": Campaign, "phrasings": PhrasingSet}


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
        part.add_argument("--phrasings", type=int, metavar="ID", help="delete this set instead")
        parser.add_argument("--yes", action="store_true", help="delete permanently")

    def run(self, **options: Any) -> dict[str, Any]:
        instance = _selected(get_benchmark(options["key"]), options)
        plan = delete(instance, by=OPERATOR) if options["yes"] else plan_deletion(instance)
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


def _selected(benchmark: Benchmark, options: dict[str, Any]) -> Model:
    """Return the object that the options select."""
    if name := options["run"]:
        return get_run(benchmark, name)
    if name := options["proxy"]:
        return get_proxy(benchmark, name)
    for option, model in NUMBERED.items():
        if (pk := options[option]) is not None:
            noun = str(model._meta.verbose_name)
            return _found(model._default_manager.filter(benchmark=benchmark, pk=pk), noun, pk)
    if name := options["train_captions"]:
        splits = TrainSplit.objects.filter(benchmark=benchmark, name=name)
        return _found(splits.defer("texts"), "train split", name)
    return benchmark


def _found(rows: QuerySet[Any], noun: str, name: object) -> Model:
    instance: Model | None = rows.first()
    if instance is None:
        raise InvalidInput(f"There is no {noun} {name!r} in this benchmark.")
    return instance
