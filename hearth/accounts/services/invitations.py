"""Create, revoke and accept invitations: links that give one person one role, once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from hearth.accounts import selectors
from hearth.accounts.acts import AccountAct
from hearth.accounts.models import INVITATION_DAYS, Invitation, User
from hearth.accounts.policies import check_can_give, check_is_active
from hearth.accounts.roles import EVERYWHERE, Role
from hearth.accounts.services.consent import give_consent
from hearth.accounts.services.people import add_person
from hearth.accounts.services.roles import set_role
from hearth.audit.services import record
from hearth.shared.errors import Conflict, InvalidInput, NotFound
from hearth.shared.limits import check_length

DAYS_MAX = 90
TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation with its token, which is not stored and cannot be shown again."""

    invitation: Invitation
    token: str


@transaction.atomic
def invite(
    *, role: Role, by: User, scope: str = EVERYWHERE, note: str = "", days: int = INVITATION_DAYS
) -> Invited:
    """Create a link for one person. `scope` is a benchmark's key, or empty for all benchmarks."""
    check_can_give(by, role, scope)
    check_length(Invitation, "note", note)
    if not 1 <= days <= DAYS_MAX:
        raise InvalidInput(f"An invitation must be valid for 1 to {DAYS_MAX} days.")
    if role == Role.ADMIN and scope != EVERYWHERE:
        raise InvalidInput("The role of admin applies to all benchmarks.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation.objects.create(
        token_sha256=selectors.hash_of_token(token),
        role=role,
        scope=scope,
        note=note,
        made_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    record(AccountAct.INVITED, by=by, on=invitation, after={"role": role, "scope": scope})
    return Invited(invitation, token)


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, by: User) -> None:
    """Revoke an open invitation. A person who may make such an invitation may revoke it.

    Raises `Conflict` if it is no longer open.
    """
    check_can_give(by, invitation.role, invitation.scope)
    if not selectors.open_invitations().filter(pk=invitation.pk).update(revoked_at=Now()):
        raise Conflict("The invitation is no longer open.")
    record(AccountAct.INVITATION_REVOKED, by=by, on=invitation)


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
    """Create an account with the role of an invitation. No other permission is needed.

    `consent` is the version of the consent text that the person agreed to. Raises `NotFound` if
    the invitation is not open, `InvalidInput` if the user name is taken, and `Conflict` if there is
    a newer version of the consent text. In the last two cases the invitation stays open.
    """
    person = add_person(username=username, password=password, name=name, email=email)
    _use(invitation, person, consent)
    return person


@transaction.atomic
def accept_invitation(*, invitation: Invitation, by: User, consent: int | None = None) -> None:
    """Give the invitation's role to a person who has an account.

    Raises `NotFound` and `Conflict` in the same cases as `join`.
    """
    check_is_active(by)
    _use(invitation, by, consent)


def _use(invitation: Invitation, person: User, consent: int | None) -> None:
    """Mark the invitation as accepted, store the consent, and grant the role.

    If two people use the invitation at the same time, the conditional update succeeds for only one.
    """
    still_open = selectors.open_invitations().filter(pk=invitation.pk)
    if not still_open.update(accepted_by=person, accepted_at=Now()):
        raise NotFound("This invitation cannot be used.")
    record(AccountAct.INVITATION_ACCEPTED, by=person, on=invitation)
    if selectors.needs_consent(person):
        give_consent(by=person, version=consent or 0)
    set_role(person, Role(invitation.role), invitation.scope, invitation.made_by)
