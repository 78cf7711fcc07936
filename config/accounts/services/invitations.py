"""Letting people in by a link, which works once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from config.accounts.models import INVITATION_DAYS, Invitation, User
from config.accounts.policies import check_can_give
from config.accounts.roles import EVERYWHERE, Role
from config.accounts.selectors import (
    hash_of_token,
    needs_consent,
    open_invitations,
)
from config.accounts.services.consent import give_consent
from config.accounts.services.people import create_user
from config.accounts.services.roles import put_role
from config.shared.errors import Conflict, InvalidInput, NotFound
from config.shared.limits import check_length

DAYS_MAX = 90
TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation with its token, which is known at this moment only."""

    invitation: Invitation
    token: str


def invite(
    *, role: Role, by: User, scope: str = EVERYWHERE, note: str = "", days: int = INVITATION_DAYS
) -> Invited:
    """Make a link for one person. `scope` is the key of a benchmark, or empty for everywhere."""
    check_can_give(by, role, scope)
    check_length(Invitation, "note", note)
    if not 1 <= days <= DAYS_MAX:
        raise InvalidInput(f"an invitation holds for 1 to {DAYS_MAX} days, not {days}")
    if role == Role.ADMIN and scope != EVERYWHERE:
        raise InvalidInput("an admin is admin everywhere, not of one benchmark")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation.objects.create(
        token_sha256=hash_of_token(token),
        role=role,
        scope=scope,
        note=note,
        made_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return Invited(invitation, token)


def revoke_invitation(*, invitation: Invitation, by: User) -> None:
    """End an invitation before it is accepted; who may make such a one may end it.

    Raises `Conflict` where it was accepted or ended before.
    """
    check_can_give(by, invitation.role, invitation.scope)
    if not open_invitations().filter(pk=invitation.pk).update(revoked_at=Now()):
        raise Conflict("The invitation is not open any more.")


@transaction.atomic
def join(
    *,
    invitation: Invitation,
    username: str,
    password: str,
    name: str = "",
    email: str = "",
    consent: int | None = None,
) -> User:
    """A new person by an invitation, with its role. `consent` is the version that they agreed to.

    Raises `NotFound` where the invitation cannot be used (any more), `InvalidInput` for a user
    name that is taken, `Conflict` where another text waits for consent. Then it stays open.
    """
    if User.objects.filter(username__iexact=username).exists():
        raise InvalidInput("this user name is taken")
    try:
        with transaction.atomic():
            person = create_user(
                username=username, password=password, roles=[], name=name, email=email
            )
    except IntegrityError:
        raise InvalidInput("this user name is taken") from None
    if email:
        EmailAddress.objects.create(user=person, email=email, primary=True, verified=False)
    _use(invitation, person, consent)
    return person


@transaction.atomic
def accept_invitation(*, invitation: Invitation, person: User, consent: int | None = None) -> None:
    """The invitation's role for somebody who has an account. Raises as `join` does."""
    _use(invitation, person, consent)


def _use(invitation: Invitation, person: User, consent: int | None) -> None:
    """Spend the invitation: of two at one moment the conditional update lets one through."""
    mine = open_invitations().filter(pk=invitation.pk)
    if not mine.update(accepted_by=person, accepted_at=Now()):
        raise NotFound("This invitation cannot be used.")
    if needs_consent(person):
        give_consent(person=person, version=consent or 0)
    put_role(person, Role(invitation.role), invitation.scope, invitation.made_by)
