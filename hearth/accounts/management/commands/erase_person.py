"""Erase a person; their labels stay under the pseudonym."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts import services
from hearth.accounts.actors import OPERATOR
from hearth.accounts.selectors import get_person
from hearth.shared.commands import HearthCommand


class Command(HearthCommand):
    help = (
        "Erase a person permanently: name, e-mail address, password, sessions, roles and notes. "
        "The labels stay under the pseudonym. Published label sets do not change."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USERNAME")

    def run(self, **options: Any) -> dict[str, Any]:
        person = get_person(options["username"])
        return {"username": services.erase_person(person=person, by=OPERATOR).username}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"The person is erased. The account is now called {result['username']}.")
