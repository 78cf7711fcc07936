"""Add named annotators to a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.core.names import read_names
from annotation.selectors.campaigns import get_campaign
from annotation.services.named_members import Added, add_named_members
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role, scopes_of
from hearth.shared.commands import HearthCommand
from hearth.shared.errors import InvalidInput
from hearth.shared.text_file import decode_text


class Command(HearthCommand):
    help = "Add annotators to a campaign by user name, e-mail address or pseudonym."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", type=int, help="number of the campaign")
        parser.add_argument("names", nargs="*", metavar="NAME")
        parser.add_argument("--file", type=Path, help="CSV file with a name on each line")

    def run(self, **options: Any) -> dict[str, Any]:
        names = list(options["names"])
        if options["file"]:
            names += read_names(decode_text(options["file"].read_bytes()))
        if not names:
            raise InvalidInput("Enter at least one name, or choose a file with --file.")
        campaign = get_campaign(options["campaign"], scopes_of(OPERATOR, Role.LEAD))
        results = add_named_members(campaign=campaign, names=names, by=OPERATOR)
        return {
            "people": [
                {"name": row.name, "result": row.result.value, "username": row.username}
                for row in results
            ]
        }

    def report(self, result: dict[str, Any]) -> None:
        for person in result["people"]:
            self.stdout.write(f"{person['name']}: {Added(person['result']).label}")
