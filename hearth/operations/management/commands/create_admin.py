"""Create an admin, and print a link at which the admin chooses a password."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core.management.base import CommandParser
from django.urls import reverse

from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role, is_admin
from hearth.accounts.selectors import find_person
from hearth.accounts.services import create_user
from hearth.shared.commands import HearthCommand
from hearth.shared.errors import Conflict, NotFound

DAY = 24 * 3600


class Command(HearthCommand):
    help = (
        "Creates an admin and prints a link at which this person chooses a password. The link "
        "works once. It is printed only once. Send it to the person in a safe way."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", default="")
        parser.add_argument(
            "--new-link",
            action="store_true",
            help="print a new link for an existing admin, for example after a lost password",
        )
        parser.add_argument(
            "--site",
            default=settings.HEARTH_SITE,
            help=f"address of the site, for the link; default: {settings.HEARTH_SITE}",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        username = options["username"]
        person = find_person(username)
        if options["new_link"]:
            if person is None or not is_admin(person):
                raise NotFound(f"There is no active admin {username}.")
        elif person is not None:
            raise Conflict(
                f"There is already an account {username}. If it belongs to an admin, --new-link "
                "prints a link for a new password."
            )
        else:
            person = create_user(
                username=username,
                password=None,
                roles=[Role.ADMIN],
                email=options["email"],
                by=OPERATOR,
            )
        return {
            "username": person.username,
            "link": link_for(person, options["site"].rstrip("/")),
            "days": settings.PASSWORD_RESET_TIMEOUT // DAY,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            f"{result['username']} chooses a password at this link, within {result['days']} days:\n"
            f"{result['link']}"
        )


def link_for(person: User, site: str) -> str:
    """Return the address at which the person sets a new password on the site.

    Its signature depends on the current password, so the address works only once.
    """
    key = f"{user_pk_to_url_str(person)}-{default_token_generator.make_token(person)}"
    uid, _, token = key.partition("-")
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": uid, "key": token})
    return site + path
