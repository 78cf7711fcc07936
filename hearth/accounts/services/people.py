"""Create, deactivate, reactivate and erase people."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext

from hearth.accounts.actors import Actor
from hearth.accounts.acts import AccountAct
from hearth.accounts.lookalikes import looks_like_any, mixes_scripts
from hearth.accounts.models import ApiToken, Invitation, User
from hearth.accounts.policies import check_can_administer, check_can_deactivate
from hearth.accounts.roles import Role, discard_cached_roles
from hearth.accounts.selectors import active_admins, find_person, open_invitations
from hearth.accounts.services.roles import lock_people
from hearth.accounts.services.sessions import sign_out
from hearth.accounts.signals import person_deactivated, person_erased
from hearth.audit.services import delete_addresses, record
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from hearth.shared.folding import tidy
from hearth.shared.limits import check_length

ERASED = "erased-"


@transaction.atomic
def create_user(
    *,
    username: str,
    password: str | None,
    roles: Iterable[Role],
    by: Actor,
    name: str = "",
    email: str = "",
    is_demo: bool = False,
) -> User:
    """Create a person with these roles in all benchmarks.

    A person with the role admin may also use the Django admin.
    """
    check_can_administer(by)
    user = add_user(username=username, password=password, name=name, email=email, is_demo=is_demo)
    user.groups.set([Group.objects.get_or_create(name=role.value)[0] for role in roles])
    user.refresh_from_db(fields=["is_staff", "is_superuser"])
    roles_now = sorted(user.groups.values_list("name", flat=True))
    record(AccountAct.PERSON_CREATED, by=by, on=user, after={"roles": roles_now})
    return user


def add_user(
    *, username: str, password: str | None, name: str = "", email: str = "", is_demo: bool = False
) -> User:
    """Store an account without a role. The caller has checked the permission."""
    check_length(User, "username", username, "user name")
    check_length(User, "first_name", name, "name")
    check_length(User, "email", email, "e-mail address")
    return User.objects.create_user(
        username=username, password=password, email=email, first_name=tidy(name), is_demo=is_demo
    )


def check_user_name(username: str) -> None:
    """Raise `InvalidInput` if a person cannot have this user name.

    The name is taken, looks like that of another account, or has letters of several scripts.
    """
    is_reserved = username.lower().startswith(ERASED)
    if is_reserved or find_person(username):
        raise InvalidInput(gettext("This user name is taken."))
    if mixes_scripts(username):
        raise InvalidInput(gettext("Use letters and digits of one alphabet."))
    if looks_like_any(username, User.objects.values_list("username", flat=True)):
        raise InvalidInput(gettext("This user name looks like that of another account."))


def add_person(*, username: str, password: str, name: str, email: str) -> User:
    """Store an account without a role, with a user name that a person chose.

    Raises `InvalidInput` as `check_user_name` does.
    """
    check_user_name(username)
    try:
        with transaction.atomic():
            person = add_user(username=username, password=password, name=name, email=email)
    except IntegrityError:
        raise InvalidInput(gettext("This user name is taken.")) from None
    if email:
        EmailAddress.objects.create(user=person, email=email, primary=True, verified=False)
    return person


@transaction.atomic
def register(*, username: str, password: str, name: str = "", email: str = "") -> User:
    """Create an account without a role for the person who asks for it.

    Anyone may do this if the site allows it. Raises `NotPermitted` if the site creates accounts by
    invitation only, and `InvalidInput` if the user name is taken.
    """
    if not settings.OPEN_REGISTRATION:
        raise NotPermitted("This site creates accounts by invitation only.")
    person = add_person(username=username, password=password, name=name, email=email)
    record(AccountAct.PERSON_CREATED, by=person, on=person, after={"roles": []})
    return person


@transaction.atomic
def deactivate_person(*, person: User, by: Actor) -> User:
    """End a person's access at once.

    Their sessions, API tokens and leases end, and so do the open invitations that they made. Roles
    and labels stay. Raises `Conflict` for one's own account, so that an admin always remains, and
    for a person who is not active.
    """
    person, by = lock_people(person, by)
    check_can_deactivate(by, person)
    if not person.is_active:
        raise Conflict("This person is not active.")
    _end_access(person)
    User.objects.filter(pk=person.pk).update(deactivated_at=Now())
    person.refresh_from_db()
    record(AccountAct.PERSON_DEACTIVATED, by=by, on=person)
    person_deactivated.send(sender=User, person=person)
    return person


@transaction.atomic
def reactivate_person(*, person: User, by: Actor) -> User:
    """Allow a deactivated person to sign in again. Earlier sessions and tokens stay invalid."""
    person, by = lock_people(person, by)
    check_can_deactivate(by, person)
    if person.is_active or person.erased_at is not None:
        raise Conflict("This person is not deactivated.")
    User.objects.filter(pk=person.pk).update(is_active=True, deactivated_at=None)
    person.refresh_from_db()
    record(AccountAct.PERSON_REACTIVATED, by=by, on=person)
    return person


@transaction.atomic
def erase_person(*, person: User, by: Actor) -> User:
    """Erase everything that names a person. Their labels stay under the pseudonym.

    Published label sets do not change. Raises `Conflict` for one's own account, the last admin, and
    a person who is already erased.
    """
    person, by = lock_people(person, by)
    check_can_administer(by)
    check_can_deactivate(by, person)
    if set(active_admins().values_list("pk", flat=True)) == {person.pk}:
        raise Conflict("This is the last admin. Make another person an admin first.")
    if person.erased_at is not None:
        raise Conflict("This person has already been erased.")
    _end_access(person)
    _clear_row(person)
    _clear_elsewhere(person)
    record(AccountAct.PERSON_ERASED, by=by, on=person)
    delete_addresses(person=person)
    person_erased.send(sender=User, person=person)
    return person


def _end_access(person: User) -> None:
    User.objects.filter(pk=person.pk).update(is_active=False)
    sign_out(person)
    ApiToken.objects.filter(user=person).delete()
    open_invitations().filter(made_by=person).update(revoked_at=Now())


def _clear_row(person: User) -> None:
    person.refresh_from_db()
    person.set_unusable_password()
    person.username = f"{ERASED}{secrets.token_hex(6)}"
    person.first_name = person.last_name = person.email = ""
    person.is_staff = person.is_superuser = False
    person.last_login = person.deactivated_at = None
    person.save()
    # The date of joining is personal data as well, like `last_login` above.
    User.objects.filter(pk=person.pk).update(erased_at=Now(), date_joined=Now())
    person.refresh_from_db()


def _clear_elsewhere(person: User) -> None:
    person.groups.clear()
    person.user_permissions.clear()
    person.grants.all().delete()
    discard_cached_roles(person)
    for model in (EmailAddress, Authenticator, SocialAccount):
        model.objects.filter(user=person).delete()
    Invitation.objects.filter(accepted_by=person).update(note="")
    kind = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=kind, object_id=str(person.pk)).update(
        object_repr=person.username, change_message=""
    )
    # The owner of a session is stored only in its encoded content.
    for session in Session.objects.iterator():
        if session.get_decoded().get(SESSION_KEY) == str(person.pk):
            session.delete()
