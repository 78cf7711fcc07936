"""Checks that `manage.py check --deploy` adds for a site that other machines can reach."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.db import DatabaseError

from hearth.accounts.models import User

# Passwords with which installers and examples create an account.
KNOWN_PASSWORDS = ("admin", "password", "hearth", "changeme", "moving-shapes")


@register("accounts", deploy=True)
def check_admins(**_: Any) -> list[CheckMessage]:
    """Fail if an admin can sign in with a known password."""
    try:
        admins = list(User.objects.filter(is_superuser=True, is_active=True, is_demo=False))
    except DatabaseError:
        return []  # there is no database yet, or it is not migrated
    weak = [
        admin for admin in admins if any(admin.check_password(word) for word in KNOWN_PASSWORDS)
    ]
    return [
        Error(
            f"The admin {admin.username!a} has a password that everyone knows.",
            hint=f"Run `manage.py changepassword {admin.username!a}`.",
            id="hearth.E002",
        )
        for admin in weak
        if not settings.DEMO
    ]
