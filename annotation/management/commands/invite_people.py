"""Invite the people of a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.urls import reverse

from annotation.api.invitations import invitation_report
from annotation.selectors.people import role_choices
from hearth.accounts.invitation_lists import read_people
from hearth.accounts.invitation_plans import plan_invitations
from hearth.accounts.models import INVITATION_DAYS
from hearth.accounts.roles import EVERYWHERE, Role
from hearth.accounts.selectors import get_person
from hearth.accounts.services.bulk_invitations import invite_people
from hearth.shared.commands import HearthCommand
from hearth.shared.text_file import decode_text


class Command(HearthCommand):
    help = "Invite the people of a CSV file (email,name,role,scope) and print their links."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--by", required=True, help="user name of the lead or admin who invites"
        )
        parser.add_argument(
            "--site",
            default=settings.HEARTH_SITE,
            help=f"address of the site, for the links; default: {settings.HEARTH_SITE}",
        )
        parser.add_argument(
            "--role",
            choices=Role.values,
            default=Role.ANNOTATOR,
            help="role of lines without a role",
        )
        parser.add_argument(
            "--scope",
            default=EVERYWHERE,
            help="benchmark of lines without a benchmark (default: all)",
        )
        parser.add_argument(
            "--days", type=int, default=INVITATION_DAYS, help="validity of a link in days"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        by, site = get_person(options["by"]), options["site"].rstrip("/")
        plan = plan_invitations(
            read_people(decode_text(options["file"].read_bytes())),
            by=by,
            role=Role(options["role"]),
            scope=options["scope"],
            scopes={scope for scope, _ in role_choices(by)["scopes"]},
        )
        invited = invite_people(
            plan=plan,
            by=by,
            link_of=lambda token: site + reverse("invitation-link", args=[token]),
            days=options["days"],
        )
        return {"people": invitation_report(plan, invited)}

    def report(self, result: dict[str, Any]) -> None:
        for person in result["people"]:
            self.stdout.write(f"{person['email']}: {person['link'] or person['reason']}")
