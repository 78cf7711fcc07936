"""Checks of passwords, sign-ins, invitations, sessions, rights and the secret key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.contrib.auth import get_backends
from django.contrib.auth.hashers import get_hasher
from django.contrib.auth.password_validation import CommonPasswordValidator, validate_password
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.cache import caches
from django.core.exceptions import ValidationError
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver

from config.settings import DEVELOPMENT_KEY
from hearth.accounts.models import INVITATION_DAYS, User
from hearth.accounts.services.invitations import TOKEN_BYTES
from hearth.audit.triggers import CREATE
from hearth.security.registry import Probe, requirement

STRONG_HASHES = {"pbkdf2_sha256", "argon2", "scrypt", "bcrypt_sha256"}
MONTH_SECONDS = 30 * 24 * 3600
PER_PROCESS = ("LocMemCache", "DummyCache")


def _is_accepted(password: str) -> bool:
    try:
        validate_password(password)
    except ValidationError:
        return False
    return True


@requirement("6.2.1", "Passwords have at least 8 characters.")
def password_length(probe: Probe) -> str:
    return "Seven characters are accepted." if _is_accepted("x7!kQz4") else ""


@requirement("6.2.4", "The 3,000 most common passwords are refused.")
def common_passwords(probe: Probe) -> str:
    if _is_accepted("password1234"):
        return "A common password is accepted."
    known = len(CommonPasswordValidator().passwords)
    return "" if known >= 3000 else f"Only {known:,} common passwords are known."


@requirement("6.2.5", "Passwords may consist of any characters.")
def any_composition(probe: Probe) -> str:
    refused = [
        text
        for text in ("correct horse battery staple", "ein schönes Pferd", "🐎🔋📎🐎🔋📎🐎🔋")
        if not _is_accepted(text)
    ]
    return f"Refused: {', '.join(refused)}." if refused else ""


@requirement("6.2.6", "Password fields hide their text.")
def masked(probe: Probe) -> str:
    page = probe.answers["GET /accounts/login/"]
    return "" if b'type="password"' in getattr(page, "content", b"") else "The password is shown."


@requirement("6.2.7", "Password managers can fill the form.")
def password_managers(probe: Probe) -> str:
    page = getattr(probe.answers["GET /accounts/login/"], "content", b"")
    is_marked = b'autocomplete="current-password"' in page
    return "" if is_marked else "The password field is not marked for password managers."


@requirement("6.2.9", "Passwords may have 64 characters or more.")
def long_passwords(probe: Probe) -> str:
    return "" if _is_accepted("a rather long sentence, " * 5) else "Long passwords are refused."


@requirement("6.3.1", "Failed sign-ins are limited, with one count for all processes.")
def rate_limits(probe: Probe) -> str:
    limits = getattr(settings, "ACCOUNT_RATE_LIMITS", {})
    if limits is False or not (limits or {}).get("login_failed", "default"):
        return "Failed sign-ins are not limited."
    if type(caches["default"]).__name__ in PER_PROCESS:
        return "Each process has its own counts."
    return ""


@requirement("6.3.2", "Leads and admins need a second factor.")
def second_factor(probe: Probe) -> str:
    required = set(settings.MFA_REQUIRED_ROLES)
    missing = {"admin", "lead"} - required
    if not missing:
        return ""
    value = ",".join(sorted(required | missing))
    return (
        f"Not required for: {', '.join(sorted(missing))}. Set MFA_REQUIRED_ROLES={value}. People "
        "with these roles then set up a second factor when they next open a page."
    )


@requirement("6.3.3", "All sign-ins use one page and one backend.")
def one_sign_in(probe: Probe) -> str:
    checking = [
        type(backend).__name__
        for backend in get_backends()
        if hasattr(backend, "user_can_authenticate")
    ]
    if checking != ["SignInBackend"]:
        return f"Only SignInBackend may check passwords. Now: {checking or 'none'}."
    response = probe.ask("GET", "/admin/login/")
    return "" if response.status_code == 302 else "The Django admin has a separate sign-in page."


@requirement("6.3.8", "Errors do not reveal which accounts exist.")
def no_enumeration(probe: Probe) -> str:
    on = getattr(settings, "ACCOUNT_PREVENT_ENUMERATION", True)
    return "" if on else "ACCOUNT_PREVENT_ENUMERATION is off."


@requirement("6.4.1", "The links of invitations are random and expire.")
def invitations(probe: Probe) -> str:
    if TOKEN_BYTES < 16:
        return f"The link has only {TOKEN_BYTES * 8} random bits."
    return "" if INVITATION_DAYS <= 31 else f"Invitations are valid for {INVITATION_DAYS} days."


@requirement("7.2.1", "Sessions are checked by the server.")
def server_sessions(probe: Probe) -> str:
    is_cookie = settings.SESSION_ENGINE.endswith("signed_cookies")
    return "The session is stored in the cookie." if is_cookie else ""


@requirement("7.3.2", "A session lasts at most a month.")
def session_age(probe: Probe) -> str:
    days = settings.SESSION_COOKIE_AGE / 86_400
    return "" if settings.SESSION_COOKIE_AGE <= MONTH_SECONDS else f"It lasts {days:.0f} days."


@requirement("7.4.2", "Sessions end when an account is deactivated.")
def ended_sessions(probe: Probe) -> str:
    hashes = {User(session_generation=generation).get_session_auth_hash() for generation in (0, 1)}
    return "" if len(hashes) == 2 else "Sessions stay valid."


@requirement("7.4.3", "Sessions end when the password changes.")
def sessions_with_password(probe: Probe) -> str:
    hashes = {User(password=password).get_session_auth_hash() for password in ("a", "b")}
    return "" if len(hashes) == 2 else "Sessions stay valid."


def api_views(patterns: Iterable[URLPattern | URLResolver]) -> Iterator[tuple[str, Any]]:
    """Yield the address and the class of each view of the API."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from api_views(pattern.url_patterns)
        elif (view := getattr(pattern.callback, "cls", None)) is not None:
            yield str(pattern.pattern), view


@requirement(
    "8.2.1", "An operation of the API is closed to everyone unless it states who may use it."
)
def denied_by_default(probe: Probe) -> str:
    default = settings.REST_FRAMEWORK["DEFAULT_PERMISSION_CLASSES"]
    if default != ["hearth.accounts.permissions.DenyAll"]:
        return "The API does not deny by default."
    open_to = [
        address
        for address, view in api_views(get_resolver("config.api_urls").url_patterns)
        if not view.permission_classes
        or any(permission.__name__ == "AllowAny" for permission in view.permission_classes)
    ]
    return f"Open to everyone: {', '.join(open_to)}." if open_to else ""


@requirement("11.2.3", "The secret key has at least 128 bits.")
def secret_key(probe: Probe) -> str:
    if settings.SECRET_KEY == DEVELOPMENT_KEY:
        return "SECRET_KEY is the development key."
    is_long = len(settings.SECRET_KEY) >= 50 and len(set(settings.SECRET_KEY)) >= 10
    return "" if is_long else "SECRET_KEY is too short or too regular."


@requirement("11.4.2", "Passwords are stored with a slow hash.")
def slow_hash(probe: Probe) -> str:
    name = get_hasher().algorithm
    return "" if name in STRONG_HASHES else f"Passwords are hashed with {name}."


@requirement("16.2.2", "Times are stored in UTC.")
def utc(probe: Probe) -> str:
    return "" if settings.USE_TZ and settings.TIME_ZONE == "UTC" else "Times are not in UTC."


@requirement("16.3.1", "Sign-ins and failed sign-ins are recorded.")
def recorded_sign_ins(probe: Probe) -> str:
    silent = [
        name
        for name, signal in (("sign-ins", user_logged_in), ("failed sign-ins", user_login_failed))
        if not any("audit_receivers" in _module_of(receiver) for receiver in _receivers(signal))
    ]
    return f"Not recorded: {', '.join(silent)}." if silent else ""


def _receivers(signal: Any) -> list[Any]:
    receivers: list[Any] = signal._live_receivers(None)[0]
    return receivers


def _module_of(receiver: Any) -> str:
    return str(getattr(receiver, "__module__", ""))


@requirement("16.4.2", "No one can change the audit log.")
def append_only(probe: Probe) -> str:
    catalogue = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(catalogue)
        present = {name for (name,) in cursor.fetchall()}
    created = " ".join(CREATE[connection.vendor]).split()
    wanted = {after for word, after in pairwise(created) if word == "TRIGGER"}
    missing = sorted(wanted - present)
    return f"The triggers are missing: {', '.join(missing)}." if missing else ""
