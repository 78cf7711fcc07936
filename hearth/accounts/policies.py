"""Who may sign in, and who may manage people, roles and invitations."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from hearth.accounts import selectors
from hearth.accounts.models import Invitation, User
from hearth.accounts.roles import Role, is_admin, is_lead, leads_somewhere, scopes_of
from hearth.shared.errors import Conflict, NotPermitted

SECOND_FACTOR_MISSING = _(
    "Your role requires a second factor. Set it up on the page Sign-in and security."
)


def can_sign_in(user: Any) -> bool:
    """Return whether the person is active and, for a demo account, whether the demo runs."""
    return bool(user.is_active) and (settings.DEMO or not user.is_demo)


def lacks_second_factor(user: Any) -> bool:
    """Return whether the person must set up a second factor before anything else."""
    required = set(settings.MFA_REQUIRED_ROLES)
    if not required or required.isdisjoint(role for role, _ in selectors.all_roles(user)):
        return False
    return not selectors.has_second_factor(user)


def is_confirmed(user: Any) -> bool:
    """Return whether the person has a role or a confirmed e-mail address.

    Only leads, admins and the setting `OIDC_NEW_ACCOUNT_ROLE` grant roles. People who register
    without an invitation have none at first.
    """
    return bool(selectors.all_roles(user)) or selectors.has_confirmed_address(user)


def is_active(user: Any) -> bool:
    return bool(user.is_active)


def check_is_active(by: Any) -> None:
    """Require an active account, for actions on the person's own account."""
    if not by.is_active:
        raise NotPermitted("This account is not active.")


def can_see_people(user: Any) -> bool:
    return leads_somewhere(user)


def people_seen_by(user: Any) -> QuerySet[User]:
    """Return all people for an admin; for a lead, the annotators of the benchmarks they lead."""
    if is_admin(user):
        return User.objects.all()
    return selectors.people_with(Role.ANNOTATOR, scopes_of(user, Role.LEAD))


def invitations_seen_by(user: Any) -> QuerySet[Invitation]:
    """Return the invitations that the person made or would be allowed to make."""
    if is_admin(user):
        return Invitation.objects.all()
    annotators = Q(role=Role.ANNOTATOR)
    scopes = scopes_of(user, Role.LEAD)
    if not scopes.everywhere:
        annotators &= Q(scope__in=scopes.keys)
    return Invitation.objects.filter(annotators | Q(made_by=user))


def can_administer(user: Any) -> bool:
    return is_admin(user)


def check_can_administer(user: Any) -> None:
    if not can_administer(user):
        raise NotPermitted("Only admins may do this.")


def can_give(by: Any, role: str, scope: str) -> bool:
    """Return whether `by` may grant and withdraw a role, and invite people to it.

    Admins may do so for every role. Leads may do so for annotators of the benchmarks they lead.
    """
    return is_admin(by) or (role == Role.ANNOTATOR and is_lead(by, scope))


def check_can_give(by: Any, role: str, scope: str) -> None:
    if not can_give(by, role, scope):
        raise NotPermitted("You may not grant or withdraw this role.")


def can_deactivate(by: Any, person: User) -> bool:
    """Return whether `by` may deactivate the person. False for one's own account.

    `by` must be an admin, or the person must have a role and `by` must be allowed to withdraw every
    role of the person.
    """
    if by.pk == person.pk:
        return False
    held = selectors.all_roles(person)
    return is_admin(by) or (bool(held) and all(can_give(by, *grant) for grant in held))


def check_can_deactivate(by: Any, person: User) -> None:
    if person.pk == by.pk:
        raise Conflict("You cannot do this to your own account. Ask another admin.")
    if not can_deactivate(by, person):
        raise NotPermitted(
            "Only an admin may do this, because the person has no role, or has roles that you may "
            "not withdraw."
        )
