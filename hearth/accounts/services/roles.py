"""Grant and withdraw roles."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from hearth.accounts.actors import Actor, account_of
from hearth.accounts.acts import AccountAct
from hearth.accounts.models import Grant, User
from hearth.accounts.policies import can_give, check_can_give
from hearth.accounts.roles import EVERYWHERE, Role, discard_cached_roles
from hearth.accounts.selectors import all_roles, open_invitations
from hearth.accounts.signals import role_withdrawn
from hearth.audit.services import record
from hearth.shared.errors import Conflict, InvalidInput


@transaction.atomic
def grant_role(*, person: User, role: Role, scope: str = EVERYWHERE, by: Actor) -> None:
    """Grant a role everywhere, or in the benchmark with the key `scope`.

    A repeated grant changes nothing. Raises `Conflict` for a person who was erased, and
    `InvalidInput` for the role of admin in one benchmark.
    """
    check_can_give(by, role, scope)
    if person.erased_at is not None:
        raise Conflict("This person has been erased.")
    set_role(person, role, scope, by)


@transaction.atomic
def set_role(person: User, role: Role, scope: str, by: Actor) -> None:
    """Store the role. The caller has checked the permission."""
    held = _holds(person, role, scope)
    if scope == EVERYWHERE:
        person.groups.add(Group.objects.get_or_create(name=role.value)[0])
    elif role == Role.ADMIN:
        raise InvalidInput("The role of admin applies to all benchmarks.")
    else:
        Grant.objects.get_or_create(
            user=person, role=role, scope=scope, defaults={"granted_by": account_of(by)}
        )
    discard_cached_roles(person)
    if not held:
        record(AccountAct.ROLE_GRANTED, by=by, on=person, after={"role": role, "scope": scope})


@transaction.atomic
def withdraw_role(*, person: User, role: Role, scope: str = EVERYWHERE, by: Actor) -> None:
    """Withdraw a role, and end the leases and invitations that depend on it.

    Raises `Conflict` for one's own role of admin, so that an admin always remains.
    """
    if role == Role.ADMIN:
        person, by = lock_people(person, by)
    check_can_give(by, role, scope)
    held = _holds(person, role, scope)
    if role == Role.ADMIN:
        if person.pk == by.pk:
            raise Conflict("You cannot withdraw your own role of admin. Ask another admin.")
        User.objects.filter(pk=person.pk).update(is_staff=False, is_superuser=False)
        person.is_staff = person.is_superuser = False
    if scope == EVERYWHERE:
        person.groups.remove(*Group.objects.filter(name=role.value))
    else:
        Grant.objects.filter(user=person, role=role, scope=scope).delete()
    discard_cached_roles(person)
    revoke_invitations_beyond_rights(person)
    if held:
        record(AccountAct.ROLE_WITHDRAWN, by=by, on=person, before={"role": role, "scope": scope})
    role_withdrawn.send(sender=User, person=person)


def _holds(person: User, role: Role, scope: str) -> bool:
    discard_cached_roles(person)
    return (role.value, scope) in all_roles(person)


def lock_people(person: User, by: Actor) -> tuple[User, Actor]:
    """Lock both people and all admins until the transaction ends. Return both as they are now.

    If two admins withdraw each other's role at the same time, the second one waits and is refused.
    """
    rows = User.objects.filter(Q(pk__in=[person.pk, by.pk]) | Q(is_superuser=True))
    locked = {row.pk: row for row in rows.select_for_update(no_key=True).order_by("pk")}
    return locked[person.pk], by if by.pk is None else locked[by.pk]


def revoke_invitations_beyond_rights(maker: User) -> None:
    """Revoke the person's open invitations to roles that the person may no longer give."""
    for invitation in open_invitations().filter(made_by=maker):
        if not can_give(maker, invitation.role, invitation.scope):
            open_invitations().filter(pk=invitation.pk).update(revoked_at=Now())
