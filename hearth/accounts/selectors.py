"""Read people, their roles, consents and invitations from the database."""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.utils import filter_users_by_email
from allauth.mfa.models import Authenticator
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare

from hearth.accounts.models import ApiToken, Consent, ConsentText, Grant, Invitation, User
from hearth.accounts.roles import EVERYWHERE, Role, Scopes, roles_held
from hearth.shared.errors import InvalidInput
from hearth.shared.folding import fold
from hearth.shared.prepared import Given, Prepared

ADMINS = Q(is_superuser=True) | Q(groups__name=Role.ADMIN.value)


def find_person(username: str) -> User | None:
    """Return the person with this user name, in any spelling that `fold` makes equal."""
    return User.objects.filter(username_folded=fold(username)).first()


def _consent_of_newest() -> QuerySet[Any, Any]:
    accepted = Consent.objects.filter(user=Given("user"), text=OuterRef("pk"))
    return ConsentText.objects.values_list(~Exists(accepted), flat=True)[:1]


_lacks_consent = Prepared(_consent_of_newest)


def get_person(username: str) -> User:
    """Return the person with this user name. Raises `InvalidInput` if there is none."""
    person = find_person(username)
    if person is None:
        raise InvalidInput(f"there is no person with the user name {username!r}")
    return person


def needs_consent(user: Any) -> bool:
    """Return whether the person must agree to the newest consent text, with one database query.

    Without a consent text, no one needs to agree.
    """
    return bool(_lacks_consent.first(user=user.pk))


def newest_consent_text() -> ConsentText | None:
    return ConsentText.objects.first()


def hash_of_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def find_token(key: str) -> ApiToken | None:
    """Return the token with this secret key, unless it has expired."""
    current = Q(expires_at=None) | Q(expires_at__gt=Now())
    found = ApiToken.objects.filter(current, key_sha256=hash_of_token(key))
    return found.select_related("user").first()


def has_second_factor(user: Any) -> bool:
    """Return whether the person has an authenticator app or a passkey, not only recovery codes."""
    kinds = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return bool(Authenticator.objects.filter(user=user, type__in=kinds).exists())


def has_confirmed_address(user: Any) -> bool:
    return bool(EmailAddress.objects.filter(user=user, verified=True).exists())


def uses_email(email: str) -> bool:
    return bool(filter_users_by_email(email))


def find_account_with_email(email: str) -> Any:
    """Return the account with this e-mail address, or an anonymous user for none or several."""
    found = filter_users_by_email(email)
    return found[0] if len(found) == 1 else AnonymousUser()


def open_invitations() -> QuerySet[Invitation]:
    """Return the invitations that can be accepted now, by the database's clock."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=Now())


def find_open_invitation(token_sha256: str) -> Invitation | None:
    found = open_invitations().filter(token_sha256=token_sha256)
    return found.select_related("made_by").first()


def active_admins() -> QuerySet[User]:
    return User.objects.filter(ADMINS, is_active=True).distinct()


def people_with(role: Role, scopes: Scopes) -> QuerySet[User]:
    """Return the people with exactly this role in one of the scopes or everywhere.

    Deactivated people are included.
    """
    if not scopes:
        return User.objects.none()
    grants = scopes.limit(Grant.objects.filter(role=role), "scope")
    everywhere = User.groups.through.objects.filter(group__name=role)
    return User.objects.filter(
        Q(pk__in=grants.values("user")) | Q(pk__in=everywhere.values("user"))
    )


def roles_shown(person: User, scopes: Scopes) -> list[tuple[Role, str]]:
    """Return the person's roles in these scopes, those that apply everywhere first.

    Uses the objects that `prefetch_related("groups", "grants")` has loaded.
    """
    names = {group.name for group in person.groups.all()}
    if person.is_superuser:
        names.add(Role.ADMIN.value)
    held = [(role, EVERYWHERE) for role in reversed(Role) if role.value in names]
    return held + [
        (Role(grant.role), grant.scope) for grant in person.grants.all() if grant.scope in scopes
    ]


def all_roles(person: User) -> set[tuple[str, str]]:
    held = set(roles_held(person))
    return held | {(Role.ADMIN.value, EVERYWHERE)} if person.is_superuser else held


def user_of_ended_session(session: SessionBase) -> User | None:
    """Return the owner of a session that ended because its owner was deactivated.

    Return None if the session ended for another reason, if the owner is active again, or if the
    password has changed since. When the site ends all sessions of a person, it raises
    `session_generation` by 1. A session that the deactivation ended therefore belongs to the
    previous generation.
    """
    try:
        pk = User._meta.pk.to_python(session[SESSION_KEY])
        signed = session[HASH_SESSION_KEY]
    except KeyError:
        return None
    user = User.objects.filter(
        pk=pk, is_active=False, erased_at=None, session_generation__gt=0
    ).first()
    if user is None:
        return None
    before = user.session_hash_of(user.session_generation - 1)
    return user if constant_time_compare(signed, before) else None
