"""Hearth's rules for allauth: who may sign in, and how."""

from __future__ import annotations

import logging
import secrets
from ipaddress import IPv4Address
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.forms import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from hearth.accounts import selectors, services
from hearth.accounts.models import User
from hearth.accounts.policies import can_sign_in
from hearth.accounts.secrets import decrypt, encrypt
from hearth.logs import UNKNOWN_ADDRESS, client_address
from hearth.shared.errors import InvalidInput

logger = logging.getLogger(__name__)

# The maximum number of characters of a typed name in the log.
LOGGED_LENGTH = 150
# Sessions and the counts of failed sign-ins need an address.
NO_ADDRESS = str(IPv4Address(0))
# allauth's id of the way to confirm an identity with a passkey.
PASSKEY_WAY = "mfa_reauthenticate:webauthn"


class InvitedOnlyAdapter(DefaultAccountAdapter):
    """Close allauth's own page for new accounts, and log failed sign-ins."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def generate_unique_username(self, txts: list[str | None], regex: str | None = None) -> str:
        """Return a new user name that a person could also choose.

        allauth compares it with others in lower case only.
        """
        name: str = super().generate_unique_username(txts, regex)
        while not _is_available(name):
            number = secrets.randbelow(10_000)
            name = super().generate_unique_username([f"{name}{number}"], regex)
        return name

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that the access log has. All unknown addresses share one limit.

        allauth would refuse a person whose address is unknown, even with the right password.
        """
        address = client_address(request, settings.TRUSTED_PROXIES)
        return NO_ADDRESS if address == UNKNOWN_ADDRESS else address

    def pre_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse | None:
        """Show a page that explains why a demo account with the correct password cannot sign in."""
        if user.is_active and not can_sign_in(user):
            return render(request, "account/demo_only.html", status=403)
        response: HttpResponse | None = super().pre_login(request, user, **options)
        return response

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the ways in which a person can confirm their identity.

        The way with a passkey gets Hearth's own label.
        """
        ways: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        passkey = {"description": gettext("Use a passkey")}
        return [way | passkey if way["id"] == PASSKEY_WAY else way for way in ways]

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            self.log_failure("too many attempts", request, credentials)
            raise

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        self.log_failure("wrong name or password", request, credentials)

    def log_failure(self, why: str, request: HttpRequest, credentials: dict[str, Any]) -> None:
        """Log a failed sign-in. Anyone can type any text as the name, so `%r` escapes it."""
        name = credentials.get("email") or credentials.get("username") or ""
        logger.warning(
            "Sign-in failed (%s): %r from %s",
            why,
            str(name)[:LOGGED_LENGTH],
            self.get_client_ip(request),
        )


def _is_available(username: str) -> bool:
    try:
        services.check_user_name(username)
    except InvalidInput:
        return False
    return True


class SecondFactorAdapter(DefaultMFAAdapter):
    """Store the secrets of authenticator apps and recovery codes encrypted."""

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        n_named = Authenticator.objects.filter(user=user, type=type).count()
        return gettext("Passkey {number}").format(number=n_named + 1)

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)


class SingleSignOnAdapter(DefaultSocialAccountAdapter):
    """Find or create the account of a person who signs in at the OpenID Connect provider."""

    def authenticate_by_email(self, sociallogin: Any) -> tuple[User, str] | None:
        """Return the one account with an e-mail address that the provider has verified.

        An account with a second factor is never found by its e-mail address, because the factor
        would no longer protect it. Its owner can connect it to the provider on the page Sign-in and
        security.
        """
        is_connecting = sociallogin.state.get("process") == AuthProcess.CONNECT
        if not settings.OIDC_MATCH_EMAIL or is_connecting:
            return None
        for address in sociallogin.email_addresses:
            # Some providers send the text "false". Non-ASCII letters can look like other letters.
            if address.verified is True and address.email.isascii():
                person = selectors.find_account_with_email(address.email)
                if can_sign_in(person) and not selectors.has_second_factor(person):
                    return person, address.email
        return None

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Make single sign-on the only way to sign in to an account found by its e-mail address.

        Another person may have created this account and entered the address. Without this step,
        that person could still sign in with the password.
        """
        if sociallogin._did_authenticate_by_email:
            services.leave_only_single_sign_on(person=sociallogin.user)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        taken = any(selectors.uses_email(address.email) for address in sociallogin.email_addresses)
        if settings.OIDC_NEW_ACCOUNTS and not taken:
            return True
        raise ImmediateHttpResponse(
            render(
                request, "socialaccount/no_account.html", {"name": settings.OIDC_NAME}, status=403
            )
        )

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        person: User = services.join_by_single_sign_on(
            save=lambda: super(SingleSignOnAdapter, self).save_user(request, sociallogin, form)
        )
        return person
