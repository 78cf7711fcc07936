"""Confirm people who have asked to upload runs to a public benchmark without a role."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.errors import InvalidInput
from hearth.shared.folding import fold
from pooling.models import Benchmark, Uploader
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.uploaders import uploaders_of
from pooling.services import confirm_uploader, remove_uploader


class Command(HearthCommand):
    help = (
        "Confirm people who have asked to upload runs to a public benchmark without a role, and "
        "list all active people who have asked."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("people", nargs="*", metavar="USERNAME", help="people to confirm")
        parser.add_argument(
            "--remove", action="store_true", help="remove these people from the list instead"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        change = remove_uploader if options["remove"] else confirm_uploader
        with transaction.atomic():
            for username in options["people"]:
                change(uploader=_find(benchmark, username), by=OPERATOR)
        return {
            "people": [
                {
                    "username": uploader.person.username,
                    "email": uploader.person.email,
                    "is_confirmed": uploader.confirmed_at is not None,
                }
                for uploader in uploaders_of(benchmark)
            ]
        }

    def report(self, result: dict[str, Any]) -> None:
        for person in result["people"]:
            state = "confirmed" if person["is_confirmed"] else "waiting"
            self.stdout.write(" ".join((f"{person['username']}: {state}", person["email"])).strip())


def _find(benchmark: Benchmark, username: str) -> Uploader:
    found = uploaders_of(benchmark).filter(person__username_folded=fold(username)).first()
    if found is None:
        reason = f"No active person {username!r} asked to be confirmed for {benchmark.key}."
        raise InvalidInput(reason)
    return found
