"""Remove the second factors of a person who has lost them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.accounts.selectors import get_person
from hearth.accounts.services import remove_second_factors
from hearth.shared.commands import HearthCommand


class Command(HearthCommand):
    help = (
        "Remove the second factors of a person who has lost them. "
        "The person's sessions and API tokens end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USERNAME")

    def run(self, **options: Any) -> dict[str, Any]:
        person = get_person(options["username"])
        remove_second_factors(person=person, by=OPERATOR)
        return {"username": person.username}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{result['username']} now signs in without a second factor.")
