"""Forget who somebody is; their labels stay under the pseudonym."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from config.accounts import services
from config.accounts.models import User
from config.shared.commands import HearthCommand
from config.shared.errors import InvalidInput


class Command(HearthCommand):
    help = (
        "Forgets a person for good: name, mail, password, sessions, roles, notes. "
        "Labels stay under the pseudonym, and published label sets are not touched."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USERNAME")

    def run(self, **options: Any) -> dict[str, Any]:
        person = User.objects.filter(username=options["username"]).first()
        if person is None:
            raise InvalidInput(f"there is nobody called {options['username']!r}")
        return {"username": services.erase_person(person=person, by=None).username}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"Erased. The account is called {result['username']} from now on.")
