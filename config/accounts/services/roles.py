"""Giving roles and taking them away."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from config.accounts.models import Grant, User
from config.accounts.policies import can_give, check_can_give
from config.accounts.roles import EVERYWHERE, Role, forget_roles
from config.accounts.selectors import open_invitations
from config.accounts.signals import role_withdrawn
from config.shared.errors import Conflict, InvalidInput


@transaction.atomic
def grant_role(*, person: User, role: Role, scope: str = EVERYWHERE, by: User) -> None:
    """Give a role everywhere, or in the benchmark whose key `scope` is. Given twice, it is one.

    Raises `Conflict` for a person who was erased, `InvalidInput` for an admin of one benchmark.
    """
    check_can_give(by, role, scope)
    if person.erased_at is not None:
        raise Conflict("This person was erased.")
    put_role(person, role, scope, by)


def put_role(person: User, role: Role, scope: str, by: User | None) -> None:
    """Give the role without asking who may: the caller has."""
    if scope == EVERYWHERE:
        person.groups.add(Group.objects.get_or_create(name=role.value)[0])
    elif role == Role.ADMIN:
        raise InvalidInput("an admin is admin everywhere, not of one benchmark")
    else:
        Grant.objects.get_or_create(
            user=person, role=role, scope=scope, defaults={"granted_by": by}
        )
    forget_roles(person)


@transaction.atomic
def withdraw_role(*, person: User, role: Role, scope: str = EVERYWHERE, by: User) -> None:
    """Take a role away. What the person may not do any more ends with it: leases, invitations.

    Raises `Conflict` for one's own role of admin: so there is always one more.
    """
    if role == Role.ADMIN:
        person, by = lock_people(person, by)
    check_can_give(by, role, scope)
    if role == Role.ADMIN:
        if person.pk == by.pk:
            raise Conflict("Nobody takes the role of admin from themselves; another admin can.")
        User.objects.filter(pk=person.pk).update(is_staff=False, is_superuser=False)
        person.is_staff = person.is_superuser = False
    if scope == EVERYWHERE:
        person.groups.remove(*Group.objects.filter(name=role.value))
    else:
        Grant.objects.filter(user=person, role=role, scope=scope).delete()
    forget_roles(person)
    revoke_invitations_beyond_rights(person)
    role_withdrawn.send(sender=User, person=person)


def lock_people(person: User, by: User) -> tuple[User, User]:
    """Both as they are now. Nobody changes them or any admin until our transaction ends.

    So of two admins who take each other's rights at one moment, the second has none any more.
    """
    rows = User.objects.filter(Q(pk__in=[person.pk, by.pk]) | Q(is_superuser=True))
    locked = {row.pk: row for row in rows.select_for_update(no_key=True).order_by("pk")}
    return locked[person.pk], locked[by.pk]


def revoke_invitations_beyond_rights(maker: User) -> None:
    """Links that the person made and could not make now are of no use any more."""
    for invitation in open_invitations().filter(made_by=maker):
        if not can_give(maker, invitation.role, invitation.scope):
            open_invitations().filter(pk=invitation.pk).update(revoked_at=Now())
