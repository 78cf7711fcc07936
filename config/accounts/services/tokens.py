"""The token with which a person's scripts use the API."""

from __future__ import annotations

from django.db import transaction
from rest_framework.authtoken.models import Token

from config.accounts.acts import AccountAct
from config.accounts.models import User
from config.accounts.policies import check_is_active
from config.accounts.services.roles import lock_people
from config.audit.services import record


@transaction.atomic
def make_token(*, by: User) -> str:
    """Return a new token for the person. It replaces the old one, which stops working."""
    person, _ = lock_people(by, by)
    check_is_active(person)
    Token.objects.filter(user=by).delete()
    key: str = Token.objects.create(user=by).key
    record(AccountAct.TOKEN_MADE, by=by, on=by)
    return key


@transaction.atomic
def withdraw_token(*, by: User) -> None:
    """Delete the person's token, so that it stops working."""
    check_is_active(by)
    Token.objects.filter(user=by).delete()
    record(AccountAct.TOKEN_WITHDRAWN, by=by, on=by)
