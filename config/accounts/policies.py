"""Who may do what with people."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from config.accounts.models import Invitation, User
from config.accounts.roles import Role, is_admin, is_lead, leads_somewhere, scopes_of
from config.accounts.selectors import all_roles, people_with
from config.shared.errors import Conflict, NotPermitted


def can_see_people(user: Any) -> bool:
    return leads_somewhere(user)


def people_seen_by(user: Any) -> QuerySet[User]:
    """Admins see everybody; a lead whoever may judge in the benchmarks that they lead."""
    if is_admin(user):
        return User.objects.all()
    return people_with(Role.ANNOTATOR, scopes_of(user, Role.LEAD))


def invitations_seen_by(user: Any) -> QuerySet[Invitation]:
    """Those that the person could have made, and those that they did make."""
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
    """Whether `by` may invite to a role, grant it and withdraw it.

    Admins every role; a lead that of annotator, where they lead.
    """
    return is_admin(by) or (role == Role.ANNOTATOR and is_lead(by, scope))


def check_can_give(by: Any, role: str, scope: str) -> None:
    if not can_give(by, role, scope):
        raise NotPermitted("You may not give or take this role.")


def can_deactivate(by: Any, person: User) -> bool:
    """Not oneself; others, if one could take every role from them that they have."""
    if person.pk == by.pk:
        return False
    held = all_roles(person)
    return is_admin(by) or (bool(held) and all(can_give(by, *one) for one in held))


def check_can_deactivate(by: Any, person: User) -> None:
    if person.pk == by.pk:
        raise Conflict("Nobody can do this to their own account; another admin can.")
    if not can_deactivate(by, person):
        raise NotPermitted(
            "Only an admin may do this: the person has roles that are not yours to take."
        )
