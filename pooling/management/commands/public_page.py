"""Make a benchmark public or private, and change what visitors see of it."""

from __future__ import annotations

from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import change_public_page
from pooling.services.public_pages import IS_PUBLIC, PAGE_FIELDS, page_values


class Command(HearthCommand):
    help = "Make a benchmark public or private, and change what visitors see of it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        state = parser.add_mutually_exclusive_group()
        state.add_argument(
            "--open", dest=IS_PUBLIC, action="store_const", const=True, help="make it public"
        )
        state.add_argument(
            "--close", dest=IS_PUBLIC, action="store_const", const=False, help="make it private"
        )
        parser.add_argument(
            "--shows-while-judging",
            action=BooleanOptionalAction,
            help="show scores and labels while a campaign is not closed",
        )
        parser.add_argument(
            "--shows-texts",
            action=BooleanOptionalAction,
            help="include the texts of captions in downloads",
        )
        parser.add_argument("--runs-per-day", type=int, help="limit of runs per person and day")
        parser.add_argument("--contact", help="whom to ask about the benchmark")
        parser.add_argument("--citation", help="how to cite the benchmark")

    def run(self, **options: Any) -> dict[str, Any]:
        changes = {
            name: options[name] for name in (IS_PUBLIC, *PAGE_FIELDS) if options[name] is not None
        }
        page = change_public_page(
            benchmark=get_benchmark(options["key"]), changes=changes, by=OPERATOR
        )
        return page_values(page)

    def report(self, result: dict[str, Any]) -> None:
        state = "public" if result[IS_PUBLIC] else "private"
        self.stdout.write(f"{state}, {counted(result['runs_per_day'], 'run')} per person and day")
