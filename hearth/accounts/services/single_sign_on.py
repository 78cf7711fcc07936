"""Accounts of people who sign in at an OpenID Connect provider."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import transaction

from hearth.accounts.actors import OPERATOR
from hearth.accounts.acts import AccountAct
from hearth.accounts.models import ApiToken, User
from hearth.accounts.roles import Role
from hearth.accounts.services.roles import grant_role
from hearth.accounts.services.sessions import sign_out
from hearth.audit.services import record


@transaction.atomic
def join_by_single_sign_on(*, save: Callable[[], User]) -> User:
    """Store a new account with `save`, and grant it the role that the site configures, if any."""
    person = save()
    record(AccountAct.PERSON_CREATED, by=OPERATOR, on=person)
    if settings.OIDC_NEW_ACCOUNT_ROLE:
        grant_role(person=person, role=Role(settings.OIDC_NEW_ACCOUNT_ROLE), by=OPERATOR)
    return person


@transaction.atomic
def leave_only_single_sign_on(*, person: User) -> None:
    """Remove the password, API tokens and sessions, so that only single sign-on remains."""
    person.set_unusable_password()
    person.save(update_fields=["password"])
    sign_out(person)
    ApiToken.objects.filter(user=person).delete()
    record(AccountAct.PASSWORD_CHANGED, by=OPERATOR, on=person)
