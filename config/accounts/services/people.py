"""Making people, letting them rest, and forgetting them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from allauth.account.models import EmailAddress
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from rest_framework.authtoken.models import Token

from config.accounts.models import Invitation, User
from config.accounts.policies import check_can_administer, check_can_deactivate
from config.accounts.roles import Role, forget_roles
from config.accounts.selectors import active_admins, open_invitations
from config.accounts.services.roles import lock_people
from config.accounts.signals import person_deactivated, person_erased
from config.shared.errors import Conflict

ERASED = "erased-"


@transaction.atomic
def create_user(
    *, username: str, password: str | None, roles: Iterable[Role], name: str = "", email: str = ""
) -> User:
    """A person with these roles everywhere; an admin also reaches the Django admin."""
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


@transaction.atomic
def deactivate_person(*, person: User, by: User) -> User:
    """Shut a person out at once: sessions, API tokens, leases and invitations end.

    Roles and labels stay. Raises `Conflict` for oneself, so that there is always an admin left,
    and for whoever is not active.
    """
    person, by = lock_people(person, by)
    check_can_deactivate(by, person)
    if not person.is_active:
        raise Conflict("This person is not active.")
    _shut_out(person)
    User.objects.filter(pk=person.pk).update(deactivated_at=Now())
    person.refresh_from_db()
    person_deactivated.send(sender=User, person=person)
    return person


@transaction.atomic
def reactivate_person(*, person: User, by: User) -> User:
    """Let a deactivated person sign in again; sessions and tokens of before stay dead."""
    person, by = lock_people(person, by)
    check_can_deactivate(by, person)
    if person.is_active or person.erased_at is not None:
        raise Conflict("This person is not deactivated.")
    User.objects.filter(pk=person.pk).update(is_active=True, deactivated_at=None)
    person.refresh_from_db()
    return person


@transaction.atomic
def erase_person(*, person: User, by: User | None) -> User:
    """Forget who somebody is. The row stays, without anything that names them, and so do their
    labels under the pseudonym; published label sets are not touched.

    `by` is None on the command line. Raises `Conflict` for oneself, the last admin, and whoever
    was erased before.
    """
    person, eraser = lock_people(person, by or person)
    if by is not None:
        check_can_administer(eraser)
        check_can_deactivate(eraser, person)
    if set(active_admins().values_list("pk", flat=True)) == {person.pk}:
        raise Conflict("This is the last admin: make somebody else admin first.")
    if person.erased_at is not None:
        raise Conflict("This person was erased before.")
    _shut_out(person)
    _clear_row(person)
    _clear_elsewhere(person)
    person_erased.send(sender=User, person=person)
    return person


def _shut_out(person: User) -> None:
    User.objects.filter(pk=person.pk).update(
        is_active=False, session_generation=F("session_generation") + 1
    )
    Token.objects.filter(user=person).delete()
    open_invitations().filter(made_by=person).update(revoked_at=Now())


def _clear_row(person: User) -> None:
    person.refresh_from_db()
    person.set_unusable_password()
    person.username = f"{ERASED}{secrets.token_hex(6)}"
    person.first_name = person.last_name = person.email = ""
    person.is_staff = person.is_superuser = False
    person.last_login = person.deactivated_at = None
    person.save()
    # When they joined and were last here is theirs, too.
    User.objects.filter(pk=person.pk).update(erased_at=Now(), date_joined=Now())
    person.refresh_from_db()


def _clear_elsewhere(person: User) -> None:
    person.groups.clear()
    person.user_permissions.clear()
    person.grants.all().delete()
    forget_roles(person)
    EmailAddress.objects.filter(user=person).delete()
    Invitation.objects.filter(accepted_by=person).update(note="")
    kind = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=kind, object_id=str(person.pk)).update(
        object_repr=person.username, change_message=""
    )
    # Of a session only its own bytes tell whose it is.
    for session in Session.objects.iterator():
        if session.get_decoded().get(SESSION_KEY) == str(person.pk):
            session.delete()
