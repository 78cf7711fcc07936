"""Pages for signing in, a person's ways to sign in, and their sessions."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import Any, cast

from allauth.account.internal.flows.email_verification import send_verification_email_to_address
from allauth.account.models import EmailAddress
from allauth.account.views import LoginView
from allauth.account.views import email as allauth_email
from allauth.account.views import password_reset as allauth_password_reset
from allauth.mfa.base.views import IndexView
from allauth.socialaccount.providers.openid_connect.views import login as allauth_openid_login
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.messages.storage.base import BaseStorage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from requests import RequestException

from hearth.accounts import services
from hearth.accounts.devices import device_name
from hearth.accounts.models import User
from hearth.accounts.policies import is_active, lacks_second_factor
from hearth.shared.errors import InvalidInput
from hearth.shared.language import translated, translated_for_annotators
from hearth.shared.pages import FORM_METHODS, only_for
from hearth.shared.public_ids import PublicIds

logger = logging.getLogger(__name__)

MAIL_ERRORS = (SMTPException, OSError)
OTHERS = "others"
SESSIONS = PublicIds("session")


class SignInView(LoginView):
    """The sign-in page, with the ways to sign in that this site offers."""

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**options)
        return context | {
            "sso_name": sso_name(),
            "open_registration": settings.OPEN_REGISTRATION,
        }


class SecurityView(IndexView):
    """The page Sign-in and security: second factor, passkeys, recovery codes."""

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**options)
        must_set_up = lacks_second_factor(self.request.user)
        return context | {"must_set_up": must_set_up, "sso_name": sso_name()}


security = translated_for_annotators(login_required(SecurityView.as_view()))


def sso_name() -> str:
    """Return the name of the OpenID Connect provider, or an empty text if there is none."""
    return settings.OIDC_NAME if settings.OIDC_ISSUER else ""


@translated_for_annotators
@require_http_methods(FORM_METHODS)
def single_sign_on(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Send the person to the OpenID Connect provider.

    The Content-Security-Policy forbids forms that lead to another site, even by a redirect. So the
    form leads to a page of Hearth, and this page continues to the provider.
    """
    try:
        answer: HttpResponseBase = allauth_openid_login(request, provider_id)
    except RequestException as error:
        logger.error("The OpenID Connect provider does not answer: %s", type(error).__name__)
        return render(request, "socialaccount/authentication_error.html", status=503)
    goal = answer.get("Location", "")
    if request.method != "POST" or not goal:
        return answer
    page = render(request, "socialaccount/continue.html", {"goal": goal})
    page["Refresh"] = f"0;url={goal}"
    page["Cache-Control"] = "no-store"
    return page


@translated
@require_http_methods(FORM_METHODS)
def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Send a link for a new password by e-mail, or explain that the site sends no e-mail."""
    if not settings.CAN_SEND_EMAIL:
        return render(request, "account/password_reset_unavailable.html")
    try:
        answer: HttpResponseBase = allauth_password_reset(request)
    except MAIL_ERRORS as error:
        # An e-mail is sent whether or not the account exists, so the error reveals nothing.
        logger.error("An e-mail could not be sent: %s", type(error).__name__)
        return render(request, "account/password_reset_unavailable.html", status=503)
    return answer


@translated_for_annotators
@require_http_methods(FORM_METHODS)
def email_addresses(request: HttpRequest) -> HttpResponseBase:
    """Show a person their e-mail addresses, add one, and send links that confirm them."""
    try:
        answer: HttpResponseBase = allauth_email(request)
    except MAIL_ERRORS as error:
        logger.error("An e-mail could not be sent: %s", type(error).__name__)
        messages.error(request, _("The mail server of this site does not answer. Try again later."))
        return redirect("account_email")
    # allauth sends at most one link in three minutes, and adds no message if it sends none.
    added = cast(BaseStorage, messages.get_messages(request)).added_new
    if "action_send" in request.POST and not added:
        messages.info(request, _("A link was sent in the last minutes. Wait before you try again."))
    return answer


def send_confirmation(request: HttpRequest, person: User) -> None:
    """Send a new person the link that confirms their address, if the site sends e-mail."""
    address = EmailAddress.objects.filter(user=person).first()
    if address is None or not settings.CAN_SEND_EMAIL:
        return
    try:
        send_verification_email_to_address(request, address)
    except MAIL_ERRORS as error:
        # The person can request the e-mail again on the page of e-mail addresses.
        logger.error("An e-mail could not be sent: %s", type(error).__name__)


@translated_for_annotators
@only_for(is_active, FORM_METHODS)
def sessions(request: HttpRequest) -> HttpResponse:
    """List the devices on which the person is signed in, or end one session or all others."""
    person = cast(User, request.user)
    if request.method == "POST":
        return _end(request, person)
    # A session that began in an earlier version of Hearth is not in the list yet.
    UserSession.objects.create_from_request(request)
    rows = [
        (
            session,
            SESSIONS.of(session.pk),
            device_name(session.user_agent),
            session.session_key == request.session.session_key,
        )
        for session in UserSession.objects.purge_and_list(person)
    ]
    rows.sort(key=lambda row: (not row[3], -row[0].pk))
    return render(request, "usersessions/sessions.html", {"rows": rows})


def _end(request: HttpRequest, person: User) -> HttpResponse:
    what = request.POST.get("session", "")
    if what == OTHERS:
        update_session_auth_hash(request, services.end_all_sessions(by=person))
        messages.success(request, _("You are signed out everywhere else."))
    elif what.isdecimal() and len(what) < 19:
        services.end_session(session_id=SESSIONS.key_of(int(what)), by=person)
        messages.success(request, _("The session has ended."))
    else:
        raise InvalidInput(f"The session must be a number or {OTHERS}.")
    return redirect("sessions")
