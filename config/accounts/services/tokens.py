"""The token that a person's scripts sign in to the API with."""

from __future__ import annotations

from django.db import transaction
from rest_framework.authtoken.models import Token

from config.accounts.models import User
from config.accounts.services.roles import lock_people
from config.shared.errors import NotPermitted


@transaction.atomic
def make_token(*, person: User) -> str:
    """A token in place of the one before, which is refused from now on.

    Raises `NotPermitted` for who was shut out meanwhile.
    """
    person, _ = lock_people(person, person)
    if not person.is_active:
        raise NotPermitted("This person is not active.")
    Token.objects.filter(user=person).delete()
    key: str = Token.objects.create(user=person).key
    return key


def withdraw_token(*, person: User) -> None:
    """Scripts that use it are refused from now on."""
    Token.objects.filter(user=person).delete()
