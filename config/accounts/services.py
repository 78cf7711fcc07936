"""Writes to people and their roles."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import Group
from django.db import transaction

from config.accounts.models import User
from config.accounts.roles import Role


@transaction.atomic
def create_user(
    *, username: str, password: str | None, roles: Iterable[Role], name: str = "", email: str = ""
) -> User:
    """A person with these roles; an admin also reaches the Django admin."""
    roles = list(roles)
    user = User.objects.create_user(
        username=username,
        password=password,
        email=email,
        first_name=name,
        is_staff=Role.ADMIN in roles,
        is_superuser=Role.ADMIN in roles,
    )
    user.groups.set([Group.objects.get_or_create(name=role.value)[0] for role in roles])
    return user
